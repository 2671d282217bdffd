// SPDX-License-Identifier: Apache-2.0
#include "access/token_bucket.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace daybreak::access {
namespace {

// 6e16 shares at most in one move: a debt may grow by a hundred of them before this holds it.
constexpr std::int64_t kLeastLevel = -6'000'000'000'000'000'000;

}  // namespace

// A level is at most kMaxUnits * kMinuteUs = 6e16, and one move is no more than that.
static_assert(TokenBucket::kMaxUnits * TokenBucket::kMinuteUs <=
              std::numeric_limits<std::int64_t>::max() / 100);

TokenBucket::TokenBucket(std::int64_t limit, std::int64_t now_us)
    : limit_(limit), level_(limit * kMinuteUs), now_us_(now_us) {
  assert(limit >= 0 && limit <= kMaxUnits);
}

void TokenBucket::advance(std::int64_t limit, std::int64_t now_us) {
  assert(limit >= 0 && limit <= kMaxUnits);
  const std::int64_t elapsed = std::max<std::int64_t>(now_us - now_us_, 0);
  now_us_ = std::max(now_us, now_us_);
  // The time until now counts at the old rate.
  if (const std::int64_t missing = capacity() - level_; limit_ > 0 && missing > 0) {
    level_ = elapsed >= refill_us(missing) ? capacity() : level_ + limit_ * elapsed;
  }
  limit_ = limit;
  level_ = std::min(level_, capacity());
}

std::int64_t TokenBucket::refill_us(std::int64_t shares) const {
  return shares / limit_ + static_cast<std::int64_t>(shares % limit_ != 0);
}

std::int64_t TokenBucket::wait_us(std::int64_t units) const {
  if (units > limit_) {
    return -1;
  }
  const std::int64_t missing = units * kMinuteUs - level_;
  // At a limit of 0 a debt never shrinks, but 0 units need nothing.
  return missing <= 0 || limit_ == 0 ? 0 : refill_us(missing);
}

void TokenBucket::add(std::int64_t units) {
  assert(units >= 0 && units <= kMaxUnits);
  level_ = std::min(level_ + units * kMinuteUs, capacity());
}

void TokenBucket::take(std::int64_t units) {
  assert(units >= 0 && units <= kMaxUnits);
  level_ = std::max(level_ - units * kMinuteUs, kLeastLevel);
}

std::int64_t TokenBucket::remaining() const {
  return std::max<std::int64_t>(level_, 0) / kMinuteUs;
}

std::int64_t TokenBucket::full_in_us() const {
  return limit_ == 0 ? 0 : refill_us(capacity() - level_);
}

}  // namespace daybreak::access
