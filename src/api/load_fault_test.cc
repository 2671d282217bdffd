// SPDX-License-Identifier: Apache-2.0
// Clients that leave, again and again, and a client that does not read beside others that do.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "api/load_test_clients.h"
#include "api/update_mailbox.h"

namespace daybreak::api {
namespace {

TEST(LoadFault, ClientsThatLeaveAtAnyPointLeaveNothingBehind) { expect_nothing_leaks(700); }

// Fewer than kMaxWaitingTokens, so that nothing is given up however slowly a test machine reads.
constexpr std::size_t kSlowTokens = 60'000;

// `kSlowTokens` for whoever asks for as many, otherwise 300, all at once.
TestApi::ScriptFn much_for_one() {
  return [ids = chat::shapes::encode(*chat::shapes::load_tokenizer(), "ab ")](
             const engine::GenerateRequest& request) {
    engine::Script script;
    const std::size_t wanted = request.max_tokens == kSlowTokens ? kSlowTokens : 300;
    for (std::size_t i = 0; i < wanted; ++i) {
      script.ids.push_back(ids[i % ids.size()]);
    }
    return script;
  };
}

TEST(LoadFault, ReaderThatTakesNothingStallsNobodyHoldsLittleAndLosesNothing) {
  static_assert(kSlowTokens < kMaxWaitingTokens);
  TestApi api(much_for_one(), {.engine = {.keep_requests = false}});
  http::ServerOptions patient;
  patient.write_timeout = std::chrono::hours(1);
  api.server->reconfigure(patient);
  const std::string small = chat_body(R"("stream":true)");
  const std::string large =
      chat_body(R"("stream":true,"max_tokens":)" + std::to_string(kSlowTokens));
  const auto whole = from_events(api.post_stream(large));
  const auto alone = from_events(api.post_stream(small));
  ASSERT_EQ(alone.at(0).finish_reason, "stop");
  const std::size_t bytes = allocated_bytes();

  RawClient slow(api.server->port(), 4096);
  slow.send(TestApi::request_text(large, "/v1/chat/completions"));
  // The engine waits for nobody: it ends while the client has taken a few kilobytes.
  ASSERT_TRUE(eventually([&] {
    const engine::Stats stats = api.engine.stats();
    return stats.submitted == 3 && stats.running + stats.queued == 0;
  }));
  for (int i = 0; i < 5; ++i) {
    const auto beside = from_events(api.post_stream(small));
    EXPECT_EQ(beside.at(0).show(), alone.at(0).show());
#ifndef DAYBREAK_SANITIZED
    // The waiting tokens, and little of what is made of them: all events are five times as much.
    constexpr std::size_t kSlack = 1U << 20U;
    EXPECT_LT(allocated_bytes(), bytes + kSlowTokens * sizeof(engine::GeneratedToken) + kSlack);
#else
    static_cast<void>(bytes);
#endif
  }
  EXPECT_EQ(api.engine.stats().finished_cancelled, 0U);
  EXPECT_GE(api.server->connections(), 1U);  // the slow one, who now reads
  const auto late = from_events(TestApi::events(slow.read_until("\r\n0\r\n\r\n")));
  EXPECT_EQ(late.at(0).show(), whole.at(0).show());
}

}  // namespace
}  // namespace daybreak::api
