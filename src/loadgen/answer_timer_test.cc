// SPDX-License-Identifier: Apache-2.0
#include "loadgen/answer_timer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "loadgen/loadgen_test_server.h"

namespace daybreak::loadgen {
namespace {

using std::chrono::milliseconds;
using telemetry::PostReply;

constexpr Clock::TimePoint kSent{};
const Result<PostReply> kWhole = PostReply{.status = 200, .retry_after = {}, .body = {}};

RequestRecord finished(AnswerTimer timer, const Result<PostReply>& reply = kWhole) {
  RequestRecord record;
  record.asked_input = 33;
  std::move(timer).finish(reply, kSent + milliseconds(5'000), record);
  return record;
}

// Pieces at 200, 300, 300 and 700 ms, the end at 900: TTFT 200 ms, ITL 100, 0, 400, E2EL 900, and
// of 8 tokens TPOT (900 - 200) / 7.
TEST(AnswerTimer, TimesPiecesAsTheyArrive) {
  AnswerTimer timer(kSent);
  EXPECT_TRUE(
      timer.take(": comment\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\","
                 "\"content\":\"\"}}]}\n\n",
                 kSent + milliseconds(100)));
  EXPECT_TRUE(timer.take(TestServer::piece("a"), kSent + milliseconds(200)));
  EXPECT_TRUE(
      timer.take(TestServer::piece("b") + TestServer::piece("c"), kSent + milliseconds(300)));
  const std::string last = TestServer::piece("d");
  EXPECT_TRUE(timer.take(last.substr(0, 20), kSent + milliseconds(400)));  // half an event
  EXPECT_TRUE(timer.take(last.substr(20), kSent + milliseconds(700)));
  EXPECT_TRUE(
      timer.take(TestServer::finish() + TestServer::usage(40, 8, 24), kSent + milliseconds(900)));
  const RequestRecord record = finished(std::move(timer));
  EXPECT_EQ(record.error_kind, "");
  EXPECT_NEAR(record.times.ttft_seconds, 0.2, 1e-12);
  EXPECT_NEAR(record.times.e2el_seconds, 0.9, 1e-12);
  EXPECT_NEAR(record.times.tpot_seconds, 0.1, 1e-12);
  ASSERT_EQ(record.itl_seconds.size(), 3U);
  EXPECT_NEAR(record.itl_seconds[0], 0.1, 1e-12);
  EXPECT_EQ(record.itl_seconds[1], 0);
  EXPECT_NEAR(record.itl_seconds[2], 0.4, 1e-12);
  EXPECT_TRUE(record.counted_by_server);
  EXPECT_EQ(record.input_tokens, 40U);
  EXPECT_EQ(record.output_tokens, 8U);
  EXPECT_EQ(record.cached_tokens, 24U);
}

TEST(AnswerTimer, CountsPiecesWhereTheServerCountsNoTokens) {
  AnswerTimer timer(kSent);
  timer.take(TestServer::piece("a") + TestServer::piece("b") + TestServer::finish(),
             kSent + milliseconds(10));
  const RequestRecord record = finished(std::move(timer));
  EXPECT_FALSE(record.failed());
  EXPECT_FALSE(record.counted_by_server);
  EXPECT_EQ(record.input_tokens, 33U);
  EXPECT_EQ(record.output_tokens, 2U);
  EXPECT_FALSE(record.cached_tokens);
}

TEST(AnswerTimer, ReadsReasoningCallsAndCompletionsAsPieces) {
  for (const char* const choice :
       {R"({"delta":{"reasoning_content":"x"}})", R"({"delta":{"reasoning":"x"}})",
        R"({"text":"x"})", R"({"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}})"}) {
    AnswerTimer timer(kSent);
    timer.take("data: {\"choices\":[" + std::string(choice) + "]}\n\n", kSent + milliseconds(7));
    timer.take(TestServer::finish(), kSent + milliseconds(9));
    const RequestRecord record = finished(std::move(timer));
    EXPECT_FALSE(record.failed()) << choice;
    EXPECT_NEAR(record.times.ttft_seconds, 0.007, 1e-12) << choice;
  }
}

TEST(AnswerTimer, AnAnswerWithoutTextHasItsEndAsFirstToken) {
  AnswerTimer timer(kSent);
  timer.take(TestServer::finish() + TestServer::usage(5, 1, 0), kSent + milliseconds(20));
  const RequestRecord record = finished(std::move(timer));
  EXPECT_FALSE(record.failed());
  EXPECT_NEAR(record.times.ttft_seconds, 0.02, 1e-12);
  EXPECT_EQ(record.times.tpot_seconds, 0);
}

TEST(AnswerTimer, TellsKindsOfErrorsApart) {
  const auto kind = [](const Result<PostReply>& reply, std::string_view bytes = {}) {
    AnswerTimer timer(kSent);
    timer.take(bytes, kSent);
    const RequestRecord record = finished(std::move(timer), reply);
    EXPECT_NEAR(record.latency_seconds, 5, 1e-9);
    EXPECT_EQ(record.times.e2el_seconds, 0);
    return record.error_kind + ": " + record.error;
  };
  EXPECT_EQ(kind(PostReply{
                .status = 429, .retry_after = {}, .body = R"({"error":{"message":"too many"}})"}),
            "http_429: HTTP 429: too many");
  EXPECT_EQ(kind(Error{Errc::kDeadline, "late"}), "timeout: late");
  EXPECT_EQ(kind(Error{Errc::kIo, "refused"}), "connection: refused");
  EXPECT_EQ(
      kind(Error{Errc::kCancelled, "given up"}, "data: {\"error\":{\"message\":\"broke\"}}\n\n"),
      "stream: broke");
  EXPECT_EQ(kind(kWhole, TestServer::piece("cut")),
            "stream: the stream: expected a finish_reason before its end, found none");
}

}  // namespace
}  // namespace daybreak::loadgen
