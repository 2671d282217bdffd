// SPDX-License-Identifier: Apache-2.0
// Everything of a policy from many threads at the same time, keys changing underneath.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "access/access_policy.h"
#include "access/access_testing.h"

namespace daybreak::access {
namespace {

TEST(AccessThreads, SumsAreExactUnderContention) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 150;
  const TemporaryDirectory dir;
  const auto path = dir / "access.db";
  ManualClock clock;
  auto admin =
      *KeyStore::open({.database = path, .pepper = {}, .missing = Database::Missing::kCreate});
  KeySettings settings = test_settings();
  settings.limits.requests_per_minute = 1'000'000;
  settings.limits.tokens_per_minute = 1'000'000;
  settings.limits.concurrency = 3;
  settings.limits.tokens_per_month = 1'000'000;
  const std::string text = admin->create(settings)->text;
  AccessOptions options;
  options.keys = *KeyStore::open({.database = path, .pepper = {}});
  options.ledger = *Ledger::open({.database = path});
  options.clock = &clock;
  auto policy = *AccessPolicy::create(std::move(options));

  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> finished = 0;
  std::atomic<int> acknowledged = 0;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRequests;) {
        const auto caller = policy->authorize(text, Scope::kInference, "k3");
        ASSERT_TRUE(caller) << caller.error().message;
        auto got = policy->begin(*caller, {.request_id = fmt::format("{}-{}", t, i),
                                           .model = "k3",
                                           .prompt_tokens = 7,
                                           .max_completion_tokens = 100});
        if (!std::holds_alternative<Permit>(got)) {
          ASSERT_EQ(std::get<Refusal>(got).limit, LimitKind::kConcurrency);
          std::this_thread::yield();
          continue;
        }
        const int now = ++running;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        --running;
        if (i++ % 5 != 0) {  // every fifth is dropped
          ++finished;
          ASSERT_TRUE(std::get<Permit>(got).finish(
              {.prompt = 7, .completion = 3}, Outcome::kStop,
              [&](const auto& r) { acknowledged += r.has_value() ? 1 : 0; }));
        }
      }
    });
  }
  std::thread changer([&] {
    while (!stop) {
      EXPECT_TRUE(admin->update(KeyId{1}, [](KeySettings& s) {
        s.priority = (s.priority + 1) % 10;
        return ok();
      }));
      EXPECT_TRUE(policy->reload_keys());
    }
  });
  for (std::thread& thread : threads) {
    thread.join();
  }
  stop = true;
  changer.join();

  const Caller caller = *policy->authorize(text, Scope::kInference, "k3");
  {
    const auto last = policy->begin(caller, {.request_id = "last", .model = "k3"});
    const auto& rates = std::get<Permit>(last).rates();
    EXPECT_EQ(rates.tokens->remaining, 1'000'000 - 10 * finished);
    EXPECT_EQ(rates.requests->remaining, 1'000'000 - finished - 1);
  }
  EXPECT_LE(most, 3);
  policy.reset();
  EXPECT_EQ(acknowledged, finished);
  Database database = *open_access_database(path, Database::Missing::kRefuse);
  EXPECT_EQ(*database.integer("SELECT sum(prompt_tokens + completion_tokens) FROM usage"),
            10 * finished);
}

}  // namespace
}  // namespace daybreak::access
