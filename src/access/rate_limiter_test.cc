// SPDX-License-Identifier: Apache-2.0
#include "access/rate_limiter.h"

#include <gtest/gtest.h>

#include <list>
#include <optional>

#include "access/access_testing.h"
#include "access/token_bucket.h"

namespace daybreak::access {
namespace {

using std::chrono::microseconds;

constexpr KeyId kKey{1};

class RateLimiterTest : public ::testing::Test {
 protected:
  std::optional<Lease> lease(const KeyLimits& limits, std::int64_t tokens, KeyId key = kKey,
                             std::int64_t sequences = 1) {
    auto got = limiter_.reserve(key, limits, {.tokens = tokens, .sequences = sequences});
    if (auto* refusal = std::get_if<Refusal>(&got)) {
      refusal_ = *refusal;
      return std::nullopt;
    }
    return std::get<Lease>(std::move(got));
  }

  ManualClock clock_;
  RateLimiter limiter_{clock_, 4};
  std::optional<Refusal> refusal_;
};

TEST_F(RateLimiterTest, ARequestTakesAPlaceForEachOfItsAnswers) {
  const KeyLimits limits{.requests_per_minute = 10, .concurrency = 4};
  auto three = lease(limits, 0, kKey, 3);
  ASSERT_TRUE(three);
  EXPECT_FALSE(lease(limits, 0, kKey, 2));
  EXPECT_EQ(refusal_->limit, LimitKind::kConcurrency);
  EXPECT_EQ(refusal_->error.code, Errc::kResourceLimit);
  EXPECT_TRUE(lease(limits, 0, kKey, 1));
  three.reset();
  EXPECT_TRUE(lease(limits, 0, kKey, 4));
  EXPECT_FALSE(lease(limits, 0, kKey, 5));
  EXPECT_EQ(refusal_->error.code, Errc::kTooLarge);
  EXPECT_FALSE(refusal_->retry_after);
  EXPECT_EQ(limiter_.rates(kKey, limits).requests->remaining, 10) << "one request each, given back";
}

TEST_F(RateLimiterTest, RatesCanBeAskedForWithoutTakingAny) {
  const KeyLimits limits{.requests_per_minute = 10, .tokens_per_minute = 100};
  EXPECT_EQ(limiter_.rates(kKey, limits).tokens->remaining, 100);
  EXPECT_EQ(limiter_.tracked_keys(), 0U);
  const auto held = lease(limits, 30);
  EXPECT_EQ(limiter_.rates(kKey, limits).tokens->remaining, 70);
  EXPECT_EQ(limiter_.rates(kKey, limits).requests->remaining, 9);
  EXPECT_FALSE(limiter_.rates(kKey, {}).requests);
}

TEST_F(RateLimiterTest, WithoutLimitsEverythingPassesAndNothingIsKept) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(lease({}, kMaxRequestTokens));
  }
  EXPECT_EQ(limiter_.tracked_keys(), 0U);
}

TEST_F(RateLimiterTest, ARequestAloneTakesNeitherTokensNorAPlace) {
  const KeyLimits limits{.requests_per_minute = 3, .tokens_per_minute = 10, .concurrency = 1};
  auto running = lease(limits, 10);
  ASSERT_TRUE(running);
  const auto alone = [&] { return limiter_.reserve_request(kKey, limits); };
  {
    const auto comes_back = alone();
    ASSERT_TRUE(std::holds_alternative<Lease>(comes_back));
    EXPECT_EQ(std::get<Lease>(comes_back).rates().requests->remaining, 1);
    EXPECT_EQ(std::get<Lease>(comes_back).rates().tokens->remaining, 0);
  }
  for (int i = 0; i < 2; ++i) {
    auto stays = alone();
    ASSERT_TRUE(std::holds_alternative<Lease>(stays));
    std::get<Lease>(stays).settle(0);
  }
  const auto refused = alone();
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused));
  EXPECT_EQ(std::get<Refusal>(refused).limit, LimitKind::kRequestsPerMinute);
  running->settle(10);
  ASSERT_FALSE(lease(limits, 1));
  clock_.advance_us(60'000'000);
  ASSERT_TRUE(lease(limits, 10)) << "the place is free, once";
}

TEST_F(RateLimiterTest, ARequestAloneMayOutliveAllThatIsKnownOfItsKey) {
  const KeyLimits limits{.requests_per_minute = 60};
  auto alone = limiter_.reserve_request(kKey, limits);
  clock_.advance_us(60'000'000);
  ASSERT_TRUE(lease(limits, 0));  // ends at once, and with it the key's entry
  EXPECT_EQ(limiter_.tracked_keys(), 0U);
  std::get<Lease>(alone).settle(0);
  auto unlimited = limiter_.reserve_request(kKey, {});
  EXPECT_TRUE(std::holds_alternative<Lease>(unlimited));
  EXPECT_EQ(limiter_.tracked_keys(), 0U);
}

TEST_F(RateLimiterTest, RequestsOfAMinuteComeBackOneByOne) {
  const KeyLimits limits{.requests_per_minute = 3};
  for (std::int64_t i = 0; i < 3; ++i) {
    auto got = lease(limits, 0);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->rates().requests->remaining, 2 - i);
    EXPECT_EQ(got->rates().requests->reset, microseconds(20'000'000 * (i + 1)));
    EXPECT_FALSE(got->rates().tokens);
    got->settle(0);
  }
  ASSERT_FALSE(lease(limits, 0));
  EXPECT_EQ(refusal_->limit, LimitKind::kRequestsPerMinute);
  EXPECT_EQ(refusal_->error.code, Errc::kResourceLimit);
  EXPECT_EQ(refusal_->error.message,
            "the key's limit of 3 requests per minute is reached; try again in 20.000 s");
  EXPECT_EQ(*refusal_->retry_after, microseconds(20'000'000));
  EXPECT_EQ(refusal_->rates.requests->remaining, 0);
  clock_.advance_us(19'999'999);
  ASSERT_FALSE(lease(limits, 0));
  EXPECT_EQ(*refusal_->retry_after, microseconds(1));
  clock_.advance_us(1);
  auto got = lease(limits, 0);
  ASSERT_TRUE(got);
  got->settle(0);
  EXPECT_FALSE(lease(limits, 0));
}

TEST_F(RateLimiterTest, WhatWasNotUsedComesBackAndWhatWasUsedMoreIsOwed) {
  const KeyLimits limits{.tokens_per_minute = 600};
  auto first = lease(limits, 600);
  ASSERT_TRUE(first);
  EXPECT_FALSE(lease(limits, 1));
  first->settle(100);
  auto second = lease(limits, 500);
  ASSERT_TRUE(second);
  EXPECT_FALSE(lease(limits, 1));
  second->settle(520);  // 20 more: 2 s at 10 a second, and 0.1 s for the next
  ASSERT_FALSE(lease(limits, 1));
  EXPECT_EQ(*refusal_->retry_after, microseconds(2'100'000));
  EXPECT_EQ(refusal_->rates.tokens->remaining, 0);
  clock_.advance_us(2'100'000);
  EXPECT_TRUE(lease(limits, 1));
}

TEST_F(RateLimiterTest, ALeaseThatIsDroppedGivesEverythingBack) {
  const KeyLimits limits{.requests_per_minute = 1, .tokens_per_minute = 10, .concurrency = 1};
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(lease(limits, 10));
  }
  EXPECT_EQ(limiter_.tracked_keys(), 0U);
  auto moved = lease(limits, 10);
  Lease other = *std::move(moved);
  moved.reset();
  EXPECT_FALSE(lease(limits, 1));
}

TEST_F(RateLimiterTest, ARequestThatNeverFitsIsToldSo) {
  ASSERT_FALSE(lease({.tokens_per_minute = 100}, 101));
  EXPECT_EQ(refusal_->error.code, Errc::kTooLarge);
  EXPECT_EQ(refusal_->limit, LimitKind::kTokensPerMinute);
  EXPECT_FALSE(refusal_->retry_after);
  EXPECT_EQ(refusal_->error.message,
            "the request may use 101 tokens, more than the key's limit of 100 per minute ever "
            "allows at once");
  // Also when another limit has to be waited for.
  auto first = lease({.requests_per_minute = 1, .tokens_per_minute = 100}, 100);
  ASSERT_TRUE(first);
  ASSERT_FALSE(lease({.requests_per_minute = 1, .tokens_per_minute = 100}, 101));
  EXPECT_EQ(refusal_->error.code, Errc::kTooLarge);
  for (const KeyLimits& none : {KeyLimits{.requests_per_minute = 0}, KeyLimits{.concurrency = 0}}) {
    ASSERT_FALSE(lease(none, 0, KeyId{2}));
    EXPECT_EQ(refusal_->error.code, Errc::kTooLarge);
  }
  EXPECT_TRUE(lease({.tokens_per_minute = 0}, 0, KeyId{2}));
}

TEST_F(RateLimiterTest, RequestsAtTheSameTimeAreCounted) {
  const KeyLimits limits{.concurrency = 2};
  auto a = lease(limits, 0);
  auto b = lease(limits, 0);
  ASSERT_TRUE(a && b);
  ASSERT_FALSE(lease(limits, 0));
  EXPECT_EQ(refusal_->limit, LimitKind::kConcurrency);
  EXPECT_EQ(*refusal_->retry_after, kConcurrencyRetry);
  EXPECT_TRUE(lease(limits, 0, KeyId{2}));  // of others
  a->settle(7);
  EXPECT_TRUE(lease(limits, 0));
}

TEST_F(RateLimiterTest, TheLongerOfTwoWaitsIsTold) {
  const KeyLimits limits{.requests_per_minute = 1, .tokens_per_minute = 60};
  auto got = lease(limits, 60);
  got->settle(60);
  ASSERT_FALSE(lease(limits, 30));
  EXPECT_EQ(refusal_->limit, LimitKind::kRequestsPerMinute);
  EXPECT_EQ(*refusal_->retry_after, microseconds(60'000'000));
}

TEST_F(RateLimiterTest, ChangedLimitsApplyAtOnce) {
  auto got = lease({.tokens_per_minute = 100}, 100);
  got->settle(100);
  EXPECT_FALSE(lease({.tokens_per_minute = 100}, 10));
  // More allowed: what was used stays used.
  ASSERT_FALSE(lease({.tokens_per_minute = 600}, 10));
  EXPECT_EQ(*refusal_->retry_after, microseconds(1'000'000));
  EXPECT_TRUE(lease({}, 10));
  clock_.advance_us(60'000'000);
  ASSERT_TRUE(lease({.tokens_per_minute = 600}, 600));
  EXPECT_FALSE(lease({.tokens_per_minute = 20}, 21));
  EXPECT_TRUE(lease({.tokens_per_minute = 20}, 20));
}

TEST_F(RateLimiterTest, ALimitThatAppearsMeanwhileIsChargedWhatWasUsed) {
  auto got = lease({}, 50);
  ASSERT_TRUE(got);
  EXPECT_TRUE(lease({.tokens_per_minute = 60}, 60));
  got->settle(40);
  ASSERT_FALSE(lease({.tokens_per_minute = 60}, 30));
  EXPECT_EQ(*refusal_->retry_after, microseconds(10'000'000));
}

TEST_F(RateLimiterTest, TrackedKeysAreBoundedAndForgottenWhenNothingIsLost) {
  const KeyLimits limits{.requests_per_minute = 60};
  for (std::int64_t key = 1; key <= 4; ++key) {
    lease(limits, 0, KeyId{key})->settle(0);
  }
  EXPECT_EQ(limiter_.tracked_keys(), 4U);
  ASSERT_FALSE(lease(limits, 0, KeyId{5}));
  EXPECT_EQ(refusal_->limit, LimitKind::kServer);
  EXPECT_TRUE(lease(limits, 0, KeyId{4}));  // who is known goes on
  clock_.advance_us(1'000'000);             // one request of 60 a minute is back
  EXPECT_TRUE(lease(limits, 0, KeyId{5}));
  EXPECT_EQ(limiter_.tracked_keys(), 0U);
}

TEST_F(RateLimiterTest, ALeaseMayOutliveItsLimiter) {
  std::optional<Lease> kept;
  {
    RateLimiter limiter(clock_);
    auto got = limiter.reserve(kKey, {.concurrency = 1}, {.tokens = 5});
    kept = std::get<Lease>(std::move(got));
  }
  kept->settle(1);
}

TEST(TokenBucketTest, TheLargestNumbersDoNotOverflow) {
  TokenBucket bucket(TokenBucket::kMaxUnits, 0);
  EXPECT_EQ(bucket.remaining(), TokenBucket::kMaxUnits);
  for (int i = 0; i < 1000; ++i) {
    bucket.take(TokenBucket::kMaxUnits);
  }
  EXPECT_EQ(bucket.remaining(), 0);
  EXPECT_EQ(bucket.full_in_us(), 101 * TokenBucket::kMinuteUs);  // the bound of a debt
  bucket.advance(TokenBucket::kMaxUnits, 101 * TokenBucket::kMinuteUs - 1);
  EXPECT_FALSE(bucket.full());
  bucket.advance(TokenBucket::kMaxUnits, 101 * TokenBucket::kMinuteUs);
  EXPECT_TRUE(bucket.full());
  bucket.take(1);
  bucket.advance(TokenBucket::kMaxUnits, std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(bucket.full());
}

TEST(TokenBucketTest, AClockThatStandsStillOrGoesBackRefillsNothing) {
  TokenBucket bucket(60, 1000);
  bucket.take(60);
  bucket.advance(60, 1000);
  bucket.advance(60, 500);
  EXPECT_EQ(bucket.wait_us(1), 1'000'000);
  bucket.advance(60, 1'001'000);
  EXPECT_EQ(bucket.wait_us(1), 0);
  EXPECT_EQ(bucket.wait_us(2), 1'000'000);
}

}  // namespace
}  // namespace daybreak::access
