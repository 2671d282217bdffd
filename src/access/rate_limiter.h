// SPDX-License-Identifier: Apache-2.0
#pragma once

// RateLimiter: requests and tokens per minute and answers at the same time, per key. What a
// request may use is reserved when it begins; what it did not use comes back when it ends.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "access/api_key.h"
#include "access/refusal.h"
#include "base/clock.h"

namespace daybreak::access {

class RateLimiterState;

// A request's share of its key's limits; gives it back when it goes. Movable; not thread-safe
// itself, but any thread may hold it. May outlive its RateLimiter.
class Lease {
 public:
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&& other) noexcept;
  // Without settle(): the request did not happen, its tokens and its place among the requests of
  // the minute come back.
  ~Lease();

  // Ends the request: the tokens reserved and not used come back, those used and not reserved are
  // owed. REQUIRES: called at most once; actual_tokens >= 0 (more than TokenBucket::kMaxUnits
  // count as that many).
  void settle(std::int64_t actual_tokens);

  // As they were when the request began, itself taken off.
  [[nodiscard]] const RateStatuses& rates() const { return rates_; }

 private:
  friend class RateLimiter;
  // What was taken from the buckets there were.
  struct Taken {
    std::int64_t running = 0;
    std::int64_t requests = 0;
    std::int64_t tokens = 0;
  };
  friend class RateLimiterState;
  Lease(std::shared_ptr<RateLimiterState> state, KeyId key) : state_(std::move(state)), key_(key) {}

  std::shared_ptr<RateLimiterState> state_;  // shared with the limiter; null: ended
  KeyId key_;
  Taken taken_;
  RateStatuses rates_;
};

// Keys whose state differs from that of a key not seen for a minute. A bound on memory that no
// database can reach, since kMaxKeys is no larger.
inline constexpr std::size_t kMaxTrackedKeys = 65'536;
// How long to wait when too much runs at the same time: nobody knows when an answer ends.
inline constexpr std::chrono::microseconds kConcurrencyRetry{1'000'000};

// What a request may take: one request of the minute, and this.
struct Need {
  std::int64_t tokens = 0;     // 0 or more
  std::int64_t sequences = 1;  // answers that run or wait at the same time, 1 or more
};

// Thread-safe.
class RateLimiter {
 public:
  // `clock` must outlive the limiter and its leases.
  explicit RateLimiter(const Clock& clock, std::size_t max_keys = kMaxTrackedKeys);

  // Reserves one request and what it needs, or changes nothing. The limits may be others at every
  // call; buckets take them over.
  // Refusals: kRequestsPerMinute, kTokensPerMinute, kConcurrency; kServer when `max_keys` others
  // are tracked. A limit of 0, or a need beyond the limit itself: kTooLarge.
  [[nodiscard]] std::variant<Lease, Refusal> reserve(KeyId key, const KeyLimits& limits,
                                                     const Need& need);

  // Reserves one request of the minute alone, for what takes neither tokens nor a place among those
  // that run. Refusals: kRequestsPerMinute, kServer, as above.
  [[nodiscard]] std::variant<Lease, Refusal> reserve_request(KeyId key, const KeyLimits& limits);

  // Returns the rates of `key` as they are now.
  [[nodiscard]] RateStatuses rates(KeyId key, const KeyLimits& limits) const;

  [[nodiscard]] std::size_t tracked_keys() const;

 private:
  std::shared_ptr<RateLimiterState> state_;
};

}  // namespace daybreak::access
