// SPDX-License-Identifier: Apache-2.0
#include "loadgen/target.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "loadgen/loadgen_test_server.h"
#include "loadgen/token_ratio.h"

namespace daybreak::loadgen {
namespace {

TEST(Target, RoutesStandBelowTheBase) {
  for (const char* const base : {"http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/",
                                 "http://h:1/v1/chat/completions"}) {
    EXPECT_EQ(*route_url(base, Protocol::kChat), "http://h:1/v1/chat/completions");
  }
  EXPECT_EQ(*route_url("https://h/v1", Protocol::kCompletions), "https://h/v1/completions");
  EXPECT_EQ(*route_url("https://h/v1/completions", Protocol::kCompletions),
            "https://h/v1/completions");
  for (const char* const base : {"", "h:1", "ftp://h", "http://h /x"}) {
    EXPECT_EQ(route_url(base, Protocol::kChat).error().code, Errc::kInvalidArgument);
  }
}

TEST(Target, BodiesAskForAStreamWithUsage) {
  Target target{.url = {}, .model = "m", .api_key = {}, .ca_file = {}, .temperature = {}};
  auto body = nlohmann::json::parse(body_of(target, "a \"b\"", 7));
  EXPECT_EQ(body, nlohmann::json::parse(R"({"model":"m","messages":[{"role":"user","content":
      "a \"b\""}],"max_tokens":7,"stream":true,"stream_options":{"include_usage":true}})"));
  target.protocol = Protocol::kCompletions;
  target.ignore_eos = true;
  target.temperature = 0.5;
  body = nlohmann::json::parse(body_of(target, "p", 1));
  EXPECT_EQ(body, nlohmann::json::parse(R"({"model":"m","prompt":"p","max_tokens":1,"stream":true,
      "stream_options":{"include_usage":true},"ignore_eos":true,"temperature":0.5})"));
}

TEST(Target, AKeyWithOddBytesIsRefused) {
  Target target{.url = "http://127.0.0.1:1",
                .model = "m",
                .api_key = "a\nb",
                .ca_file = {},
                .temperature = {}};
  EXPECT_EQ(connect(target, 1).error().code, Errc::kInvalidArgument);
}

// A server with `added` tokens around a prompt and `per_word` for a word.
Result<TokenRatio> learnt_from(std::size_t added, std::size_t per_word) {
  TestServer server([&](const std::string& body, const TestServer::Send& send) {
    const std::string prompt = nlohmann::json::parse(body)["messages"][0]["content"];
    const auto words = static_cast<std::size_t>(std::count(prompt.begin(), prompt.end(), ' '));
    send(TestServer::head() + TestServer::piece("x") + TestServer::finish() +
         TestServer::usage(added + per_word * words, 1, 0));
  });
  const Target target{
      .url = server.url(), .model = "m", .api_key = {}, .ca_file = {}, .temperature = {}};
  return learn_ratio(target, PromptWriter(common_words(), 0, 1), [] { return false; });
}

TEST(TokenRatio, IsLearntFromTwoRequests) {
  const auto exact = learnt_from(12, 1);
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->tokens_per_word, 1);
  EXPECT_EQ(exact->added_tokens, 12);
  EXPECT_EQ(exact->words_for(1'000), 988U);
  EXPECT_EQ(exact->words_for(5), 1U);  // less than what stands around it
  const auto twice = learnt_from(10, 2);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->words_for(1'000), 495U);
}

TEST(TokenRatio, SaysWhyThereIsNone) {
  TestServer server([](const std::string&, const TestServer::Send& send) {
    send(TestServer::refuses("404 Not Found", "no such model"));
  });
  const Target target{
      .url = server.url(), .model = "m", .api_key = {}, .ca_file = {}, .temperature = {}};
  const PromptWriter writer(common_words(), 0, 1);
  const auto ratio = learn_ratio(target, writer, [] { return false; });
  ASSERT_FALSE(ratio);
  EXPECT_EQ(ratio.error().code, Errc::kUnavailable);
  EXPECT_EQ(ratio.error().message, "the request before the run failed: HTTP 404: no such model");
  const auto stopped = learn_ratio(target, writer, [] { return true; });
  ASSERT_FALSE(stopped);
}

}  // namespace
}  // namespace daybreak::loadgen
