// SPDX-License-Identifier: Apache-2.0
// The limiter against a model so simple that it is obviously right: one that lives through every
// microsecond.

#include "access/rate_limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <optional>

#include "access/access_testing.h"
#include "base/rng.h"

namespace daybreak::access {
namespace {

// A bucket that is refilled microsecond by microsecond, in sixty-millionths of a unit.
struct SlowBucket {
  std::int64_t limit;
  std::int64_t level = limit * 60'000'000;

  void tick() { level = std::min(level + limit, limit * 60'000'000); }
  void add(std::int64_t units) { level = std::min(level + units * 60'000'000, limit * 60'000'000); }
  void take(std::int64_t units) { level -= units * 60'000'000; }
  [[nodiscard]] bool has(std::int64_t units) const { return level >= units * 60'000'000; }
  [[nodiscard]] std::int64_t wait(std::int64_t units) const {
    std::int64_t out = 0;
    for (SlowBucket copy = *this; !copy.has(units); ++out) {
      copy.tick();
    }
    return out;
  }
};

struct Running {
  Lease lease;
  std::int64_t tokens;
};

class Play {
 public:
  explicit Play(std::uint64_t seed) : rng_(seed) {
    // So large that a few thousand microseconds matter.
    limits_ = {.requests_per_minute = below(200'000) + 1,
               .tokens_per_minute = below(300'000'000) + 1,
               .concurrency = below(6) + 1};
    requests_ = {*limits_.requests_per_minute};
    tokens_ = {*limits_.tokens_per_minute};
    // Nearly empty, where it matters.
    drain(requests_.limit, tokens_.limit);
  }

  void step() {
    switch (below(4)) {
      case 0:
        return wait();
      case 1:
        return end();
      default:
        return begin();
    }
  }

  std::size_t begun = 0;
  std::size_t refused = 0;

 private:
  std::int64_t below(std::uint64_t n) { return static_cast<std::int64_t>(rng_.next() % n); }

  void drain(std::int64_t requests, std::int64_t tokens) {
    KeyLimits limits = limits_;
    limits.concurrency.reset();
    for (std::int64_t i = 0; i < requests; ++i) {
      auto got = limiter_.reserve(KeyId{1}, limits, {.tokens = i == 0 ? tokens : 0});
      std::get<Lease>(got).settle(i == 0 ? tokens : 0);
    }
    requests_.take(requests);
    tokens_.take(tokens);
  }

  void wait() {
    const std::int64_t us = below(3000);
    clock_.advance_us(us);
    for (std::int64_t i = 0; i < us; ++i) {
      requests_.tick();
      tokens_.tick();
    }
  }

  void begin() {
    const std::int64_t wanted = std::min(below(20'000), tokens_.limit);
    const bool fits =
        requests_.has(1) && tokens_.has(wanted) && std::ssize(running_) < *limits_.concurrency;
    auto got = limiter_.reserve(KeyId{1}, limits_, {.tokens = wanted});
    ASSERT_EQ(std::holds_alternative<Lease>(got), fits);
    if (fits) {
      ++begun;
      requests_.take(1);
      tokens_.take(wanted);
      running_.push_back({std::get<Lease>(std::move(got)), wanted});
      expect_rates(running_.back().lease.rates());
      return;
    }
    ++refused;
    const auto& refusal = std::get<Refusal>(got);
    expect_rates(refusal.rates);
    const std::int64_t wait = std::max(requests_.wait(1), tokens_.wait(wanted));
    if (wait > 0) {
      ASSERT_EQ(refusal.retry_after->count(), wait);
    } else {
      ASSERT_EQ(refusal.limit, LimitKind::kConcurrency);
    }
  }

  void end() {
    if (running_.empty()) {
      return;
    }
    const auto chosen = std::next(running_.begin(), below(running_.size()));
    if (below(4) == 0) {
      requests_.add(1);
      tokens_.add(chosen->tokens);
    } else {
      const std::int64_t used = below(static_cast<std::uint64_t>(chosen->tokens) * 5 / 4 + 1);
      chosen->lease.settle(used);
      used > chosen->tokens ? tokens_.take(used - chosen->tokens)
                            : tokens_.add(chosen->tokens - used);
    }
    running_.erase(chosen);
  }

  void expect_rates(const RateStatuses& rates) const {
    ASSERT_EQ(rates.requests->remaining, std::max<std::int64_t>(requests_.level, 0) / 60'000'000);
    ASSERT_EQ(rates.tokens->remaining, std::max<std::int64_t>(tokens_.level, 0) / 60'000'000);
    const std::int64_t missing = tokens_.limit * 60'000'000 - tokens_.level;
    ASSERT_EQ(rates.tokens->reset.count(), (missing + tokens_.limit - 1) / tokens_.limit);
  }

  Rng rng_;
  ManualClock clock_;
  RateLimiter limiter_{clock_};
  KeyLimits limits_;
  SlowBucket requests_{1};
  SlowBucket tokens_{1};
  std::list<Running> running_;
};

TEST(RateLimiterProperty, AgreesWithLivingThroughEveryMicrosecond) {
  std::size_t begun = 0;
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Play play(seed);
    for (int i = 0; i < 400; ++i) {
      play.step();
      if (::testing::Test::HasFatalFailure()) {
        FAIL() << "seed " << seed << ", step " << i;
      }
    }
    begun += play.begun;
    refused += play.refused;
  }
  EXPECT_GT(begun, 1000U);
  EXPECT_GT(refused, 1000U);
}

// A million odd steps of time refill exactly what one long step would.
TEST(RateLimiterProperty, NeverDrifts) {
  ManualClock clock;
  RateLimiter limiter(clock);
  const KeyLimits limits{.tokens_per_minute = 7'000'003};
  std::get<Lease>(limiter.reserve(KeyId{1}, limits, {.tokens = 7'000'003})).settle(7'000'003);
  for (int i = 0; i < 1'000'000; ++i) {
    clock.advance_us(i % 2 == 0 ? 1 : 110);
    // Looks, and takes nothing.
    (void)limiter.reserve(KeyId{1}, limits, {});
  }
  // 55.5 s have gone: floor(7'000'003 * 55.5 / 60) = 6'475'002.775
  const auto got = limiter.reserve(KeyId{1}, limits, {});
  EXPECT_EQ(std::get<Lease>(got).rates().tokens->remaining, 6'475'002);
  EXPECT_EQ(std::get<Lease>(got).rates().tokens->reset.count(), 4'500'000);
}

}  // namespace
}  // namespace daybreak::access
