// SPDX-License-Identifier: Apache-2.0
#pragma once

// Refusal: why a request may not begin now, and when it may. What replies say in their status,
// their message, Retry-After and X-RateLimit-* headers.

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/result.h"

namespace daybreak::access {

enum class LimitKind : std::uint8_t {
  kRequestsPerMinute,
  kTokensPerMinute,
  kConcurrency,
  kTokensPerDay,  // from here on quotas: of the UTC day or month
  kTokensPerMonth,
  kMoneyPerMonth,
  kServer,  // none of the key's: the server cannot account for more at the moment
};
[[nodiscard]] constexpr bool is_quota(LimitKind kind) {
  return kind >= LimitKind::kTokensPerDay && kind <= LimitKind::kMoneyPerMonth;
}

// One limit as it stands. `reset`: until all of it is there again.
struct RateStatus {
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  std::chrono::microseconds reset{0};
};
// Nothing where the key has no limit.
struct RateStatuses {
  std::optional<RateStatus> requests;
  std::optional<RateStatus> tokens;
};

struct Refusal {
  LimitKind limit = LimitKind::kServer;
  // kResourceLimit  try again after `retry_after`
  // kUnavailable    the usage of one more could not be recorded: likewise
  // kTooLarge       the request alone exceeds the limit: it would be refused at any time
  // others          what AccessPolicy::begin() names
  Error error;
  // From now, rounded up to a microsecond. Nothing unless the code is one of the first
  // two.
  std::optional<std::chrono::microseconds> retry_after;
  RateStatuses rates;
  // The same request with a shorter answer may be let in: now, if it is to try again.
  bool shorter_may_fit = false;
};

}  // namespace daybreak::access
