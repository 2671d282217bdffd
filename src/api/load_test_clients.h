// SPDX-License-Identifier: Apache-2.0
#pragma once

// Clients that leave at every point of a request, and what a process holds. Test code only.

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <string>

#include "api/api_test_server.h"

namespace daybreak::api {

inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// Bytes allocated and not freed. REQUIRES: the system's allocator, not a sanitizer's.
inline std::size_t allocated_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Answers that say three ids and then nothing until they are cancelled.
inline TestApi::ScriptFn says_and_hangs() {
  return [ids = chat::shapes::encode(*chat::shapes::load_tokenizer(), "a b c")](
             const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = ids;
    script.hang = true;
    return script;
  };
}

inline constexpr int kWaysToLeave = 7;

inline void connect_and_leave(TestApi& api, int way) {
  const std::string streams =
      TestApi::request_text(chat_body(R"("stream":true)"), "/v1/chat/completions");
  const std::string plain = TestApi::request_text(chat_body(), "/v1/chat/completions");
  RawClient client(api.server->port());
  ASSERT_TRUE(client.connected());
  switch (way % kWaysToLeave) {
    case 0:
      break;
    case 1:
      client.send(streams.substr(0, 20));
      break;
    case 2:
      client.send(streams.substr(0, streams.size() - 5));
      break;
    case 3:
      client.send(streams);
      break;
    case 4:
      client.send(streams);
      EXPECT_NE(client.read_until("data: ").find("200 OK"), std::string::npos);
      break;
    case 5:
      client.send(streams);
      EXPECT_NE(client.read_until("data: ").find("200 OK"), std::string::npos);
      return client.close_with_reset();
    default:
      client.send(plain);
      return client.close_with_reset();
  }
}

// Waits until nobody is connected and nothing is generated. The answer to one more client says that
// all before it have been accepted.
inline bool at_rest(TestApi& api) {
  return testing::status_of(api.get("/health")) == 200 && eventually([&] {
           const engine::Stats stats = api.engine.stats();
           return api.server->connections() == 0 && stats.running + stats.queued == 0;
         });
}

inline void forget_log(TestApi& api) {
  const std::lock_guard lock(api.log_mutex_);
  std::string().swap(api.log_);
}

// After `cycles` clients that left, everything is as it was after the first few: descriptors,
// connections, sequences, memory.
inline void expect_nothing_leaks(int cycles) {
  TestApi api(says_and_hangs(), {.engine = {.max_queue = 1000, .keep_requests = false}});
  for (int i = 0; i < 20 * kWaysToLeave; ++i) {
    connect_and_leave(api, i);
  }
  ASSERT_TRUE(at_rest(api));
  forget_log(api);
  const std::size_t descriptors = open_descriptors();
  const std::size_t bytes = allocated_bytes();
  for (int i = 0; i < cycles; ++i) {
    connect_and_leave(api, i);
  }
  ASSERT_TRUE(at_rest(api));
  forget_log(api);
  EXPECT_EQ(open_descriptors(), descriptors);
  const engine::Stats stats = api.engine.stats();
  EXPECT_EQ(stats.submitted, stats.finished_cancelled);
#ifndef DAYBREAK_SANITIZED
  // What the allocator keeps for its threads grows a little at first. No object takes less than 32
  // bytes, so one leaked per client shows after 10,000; larger ones sooner.
  const std::size_t slack = 64U * 1024 + 16U * static_cast<std::size_t>(cycles);
  EXPECT_LT(allocated_bytes(), bytes + slack);
#else
  static_cast<void>(bytes);
#endif
}

}  // namespace daybreak::api
