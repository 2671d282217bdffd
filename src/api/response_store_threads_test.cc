// SPDX-License-Identifier: Apache-2.0
// One store, many connections.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/response_store.h"

namespace daybreak::api {
namespace {

TEST(ResponseStoreThreads, ManyThreadsStayWithinTheBound) {
  ResponseStore store({.max_bytes = 20'000}, [] {
    static std::atomic<std::uint64_t> n{0};
    return ++n * 0x9E3779B97F4A7C15ULL;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 300; ++i) {
        const std::string id = "resp_" + std::to_string(t) + "_" + std::to_string(i);
        ResponseStore::Response one;
        one.id = id;
        one.json = std::string(100, 'x');
        one.input = {std::make_shared<const chat::ResponsesItem>(
            chat::ResponsesItem{.id = {}, .body = "{\"x\":" + std::to_string(i) + "}"})};
        if (auto before = store.conversation("", "resp_0_" + std::to_string(i))) {
          one.previous = *std::move(before);
        }
        store.put(std::move(one));
        EXPECT_LE(store.stats().bytes, 20'000U);
        if (i % 7 == 0) {
          static_cast<void>(store.remove("", id));
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace daybreak::api
