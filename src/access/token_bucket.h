// SPDX-License-Identifier: Apache-2.0
#pragma once

// TokenBucket: a rate of `limit` units per minute with a burst of `limit`. Integers only: the level
// is counted in shares of a unit such that one microsecond refills exactly `limit` of them, so
// nothing is ever rounded and nothing drifts.

#include <cstdint>

namespace daybreak::access {

class TokenBucket {
 public:
  static constexpr std::int64_t kMinuteUs = 60'000'000;  // also the shares of one unit
  // Most units one take() or charge() may move, so that no sum of them overflows.
  static constexpr std::int64_t kMaxUnits = 1'000'000'000;

  // Full. `limit` in [0, kMaxUnits] per minute; `now_us` on any clock that never goes back.
  TokenBucket(std::int64_t limit, std::int64_t now_us);

  // Refills up to `now_us` and takes over a changed limit: what is there stays, cut to the new
  // burst.
  void advance(std::int64_t limit, std::int64_t now_us);

  // Returns after how many microseconds, rounded up, `units` are there: 0 if they are now, -1 if
  // they never will be (units > limit). Does not refill: advance() first.
  [[nodiscard]] std::int64_t wait_us(std::int64_t units) const;

  // Adds or takes units, [0, kMaxUnits]. The level stops at full, and becomes negative when more is
  // taken than there is: a debt that is worked off first, bounded by 100 times kMaxUnits.
  void add(std::int64_t units);
  void take(std::int64_t units);

  [[nodiscard]] std::int64_t remaining() const;   // whole units, never negative
  [[nodiscard]] std::int64_t full_in_us() const;  // until it is full, rounded up; limit 0: 0
  [[nodiscard]] std::int64_t limit() const { return limit_; }
  [[nodiscard]] bool full() const { return level_ == capacity(); }

 private:
  [[nodiscard]] std::int64_t capacity() const { return limit_ * kMinuteUs; }
  // Microseconds, rounded up, in which `shares` (>= 0) come. REQUIRES: limit_ > 0.
  [[nodiscard]] std::int64_t refill_us(std::int64_t shares) const;

  std::int64_t limit_;
  std::int64_t level_;  // in shares
  std::int64_t now_us_;
};

}  // namespace daybreak::access
