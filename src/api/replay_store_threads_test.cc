// SPDX-License-Identifier: Apache-2.0
// One store, many connections: each call is made by one of those who ask for it, and all others get
// that answer or make another.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/replay_store.h"

namespace daybreak::api {
namespace {

TEST(ReplayStoreThreads, EveryCallHasOneMakerAtATimeAndOneAnswer) {
  constexpr std::size_t kNames = 5;
  ReplayStore store({.max_bytes = 20'000});
  std::array<std::atomic<int>, kNames> making{};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const std::size_t which = static_cast<std::size_t>(i + t) % kNames;
        const std::string name = "name" + std::to_string(which);
        const auto claim = store.claim({.caller = access::KeyId{1},
                                        .owner = which % 2 == 0 ? "even" : "odd",
                                        .path = "/p",
                                        .name = name,
                                        .body = {}},
                                       true);
        ASSERT_NE(claim.call, nullptr);
        const bool leaves = i % 7 == 0;
        if (claim.listener == 0) {
          EXPECT_EQ(++making[which], 1) << "two make the same";
          store.on_silence(claim.call, [] {});
          if (leaves) {
            store.leave(claim.call, claim.listener, false);
          }
          --making[which];  // before others can learn that it is over
          if (!leaves || !store.give_up(claim.call)) {
            store.finish(claim.call, i % 5 == 0 ? nullptr
                                                : std::make_shared<const http::Response>(
                                                      http::Response{.body = name}));
          }
          if (!leaves) {
            store.leave(claim.call, claim.listener, i % 3 == 0);
          }
        } else {
          // Shared: the call may end, and tell, while this one leaves.
          const auto over = std::make_shared<std::atomic<bool>>(false);
          store.on_over(claim.call, claim.listener, [over] { *over = true; });
          while (!*over && !leaves) {
            std::this_thread::yield();
          }
          if (*over) {
            const ReplayStore::Answer answer = store.answer(claim.call);
            EXPECT_TRUE(answer == nullptr || answer->body == name);
          }
          store.leave(claim.call, claim.listener, true);
        }
        EXPECT_LE(store.stats().bytes, 20'000U);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(store.stats().waiting, 0U);
  EXPECT_EQ(store.stats().abandoned, 0U);
}

}  // namespace
}  // namespace daybreak::api
