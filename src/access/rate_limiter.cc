// SPDX-License-Identifier: Apache-2.0
#include "access/rate_limiter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "access/token_bucket.h"

namespace daybreak::access {
namespace {

using std::chrono::microseconds;

static_assert(kMaxRatePerMinute <= TokenBucket::kMaxUnits);
static_assert(kMaxKeys <= kMaxTrackedKeys);

constexpr std::int64_t kSweepEveryUs = 1'000'000;

// What one key has in use.
struct KeyUse {
  std::optional<TokenBucket> requests;
  std::optional<TokenBucket> tokens;
  std::int64_t running = 0;

  // Whether forgetting this loses nothing. REQUIRES: advanced.
  [[nodiscard]] bool idle() const {
    return running == 0 && (!requests || requests->full()) && (!tokens || tokens->full());
  }
};

void advance(std::optional<TokenBucket>& bucket, std::optional<std::int64_t> limit,
             std::int64_t now_us) {
  if (!limit) {
    bucket.reset();
  } else if (bucket) {
    bucket->advance(*limit, now_us);
  } else {
    bucket.emplace(*limit, now_us);
  }
}

std::optional<RateStatus> status_of(const std::optional<TokenBucket>& bucket,
                                    std::optional<std::int64_t> limit) {
  if (!bucket) {
    return std::nullopt;
  }
  return RateStatus{*limit, bucket->remaining(), microseconds(bucket->full_in_us())};
}

Refusal refuse(LimitKind kind, std::string message, microseconds wait) {
  const double seconds = static_cast<double>(wait.count()) / 1e6;
  return {kind,
          {Errc::kResourceLimit, fmt::format("{}; try again in {:.3f} s", message, seconds)},
          wait,
          {}};
}

Refusal never(LimitKind kind, std::string message) {
  return {kind, {Errc::kTooLarge, std::move(message)}, std::nullopt, {}};
}

// Why `units` more may not be had, if so.
std::optional<Refusal> check(const std::optional<TokenBucket>& bucket, LimitKind kind,
                             std::optional<std::int64_t> limit, std::int64_t units,
                             std::string_view what) {
  if (!bucket) {
    return std::nullopt;
  }
  const std::int64_t wait = bucket->wait_us(units);
  if (wait == 0) {
    return std::nullopt;
  }
  if (wait < 0) {
    Refusal out = never(kind, fmt::format("the request may use {} {}, more than the key's limit of "
                                          "{} per minute ever allows at once",
                                          units, what, *limit));
    out.shorter_may_fit = kind == LimitKind::kTokensPerMinute;
    return out;
  }
  return refuse(kind, fmt::format("the key's limit of {} {} per minute is reached", *limit, what),
                microseconds(wait));
}

std::optional<Refusal> check_running(std::int64_t running, std::optional<std::int64_t> limit,
                                     std::int64_t more) {
  if (!limit || more <= *limit - running) {
    return std::nullopt;
  }
  if (*limit == 0) {
    return never(LimitKind::kConcurrency, "the key's limit allows no request at all");
  }
  if (more > *limit) {
    return never(LimitKind::kConcurrency,
                 fmt::format("the request asks for {} answers (prompts times n), more than the "
                             "key's limit of {} at the same time ever allows",
                             more, *limit));
  }
  return refuse(LimitKind::kConcurrency,
                fmt::format("the key's limit of {} answers at the same time is reached", *limit),
                kConcurrencyRetry);
}

RateStatuses statuses_of(const KeyUse& use, const KeyLimits& limits) {
  return {status_of(use.requests, limits.requests_per_minute),
          status_of(use.tokens, limits.tokens_per_minute)};
}

}  // namespace

class RateLimiterState {
 public:
  RateLimiterState(const Clock& clock, std::size_t max_keys) : clock_(clock), max_keys_(max_keys) {}

  // Nothing as `need`: one request of the minute alone.
  std::variant<Lease, Refusal> reserve(Lease lease, const KeyLimits& limits,
                                       const std::optional<Need>& need) {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = now_us();
    const auto found = find(lease.key_, now);
    if (found == usage_.end()) {
      lease.state_ = nullptr;
      return refuse(LimitKind::kServer,
                    fmt::format("the server tracks {} keys, the most possible", max_keys_),
                    microseconds(kSweepEveryUs));
    }
    KeyUse& use = found->second;
    take_over(use, limits, now);
    auto refusal = need ? check(use, limits, *need) : check_requests(use, limits);
    if (!refusal) {
      lease.taken_ = take(use, need);
    }
    const RateStatuses rates = statuses_of(use, limits);
    if (use.idle()) {
      usage_.erase(found);
    }
    if (refusal) {
      lease.state_ = nullptr;
      refusal->rates = rates;
      return *std::move(refusal);
    }
    lease.rates_ = rates;
    return lease;
  }

  // Nothing as `actual`: the request did not happen.
  void end(KeyId key, const Lease::Taken& taken, std::optional<std::int64_t> actual) {
    const std::lock_guard lock(mutex_);
    const auto found = usage_.find(static_cast<std::int64_t>(key));
    if (found == usage_.end()) {
      return;  // of a request alone, which came back by itself meanwhile: others keep their key
               // here
    }
    KeyUse& use = found->second;
    use.running -= taken.running;
    advance(use, now_us());
    if (use.requests && !actual) {
      use.requests->add(taken.requests);
    }
    if (use.tokens) {
      const std::int64_t used = std::min(actual.value_or(0), TokenBucket::kMaxUnits);
      if (used <= taken.tokens) {
        use.tokens->add(taken.tokens - used);
      } else {
        use.tokens->take(used - taken.tokens);
      }
    }
    if (use.idle()) {
      usage_.erase(found);
    }
  }

  RateStatuses rates(KeyId key, const KeyLimits& limits) const {
    const std::lock_guard lock(mutex_);
    const auto found = usage_.find(static_cast<std::int64_t>(key));
    KeyUse use = found == usage_.end() ? KeyUse() : found->second;
    take_over(use, limits, now_us());
    return statuses_of(use, limits);
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return usage_.size();
  }

 private:
  using Table = std::unordered_map<std::int64_t, KeyUse>;

  static std::optional<Refusal> check(const KeyUse& use, const KeyLimits& limits,
                                      const Need& need) {
    // Tokens first: only they depend on the request, and it may be one that never fits.
    auto refusal = access::check(use.tokens, LimitKind::kTokensPerMinute, limits.tokens_per_minute,
                                 need.tokens, "tokens");
    if (refusal && !refusal->retry_after) {
      return refusal;
    }
    if (auto requests = check_requests(use, limits)) {
      // Of two waits the longer one counts.
      if (!refusal || !requests->retry_after || *requests->retry_after > *refusal->retry_after) {
        refusal = std::move(requests);
      }
    }
    auto running = check_running(use.running, limits.concurrency, need.sequences);
    // What never fits is said first: waiting for the others would not help.
    return refusal && !(running && !running->retry_after) ? refusal : running;
  }

  static std::optional<Refusal> check_requests(const KeyUse& use, const KeyLimits& limits) {
    return access::check(use.requests, LimitKind::kRequestsPerMinute, limits.requests_per_minute, 1,
                         "requests");
  }

  static Lease::Taken take(KeyUse& use, const std::optional<Need>& need) {
    Lease::Taken taken{.running = need ? need->sequences : 0};
    use.running += taken.running;
    if (use.requests) {
      use.requests->take(taken.requests = 1);
    }
    if (use.tokens && need) {
      use.tokens->take(taken.tokens = need->tokens);
    }
    return taken;
  }

  static void take_over(KeyUse& use, const KeyLimits& limits, std::int64_t now) {
    access::advance(use.requests, limits.requests_per_minute, now);
    access::advance(use.tokens, limits.tokens_per_minute, now);
  }

  // At the limits as they are.
  static void advance(KeyUse& use, std::int64_t now) {
    for (auto* bucket : {&use.requests, &use.tokens}) {
      if (*bucket) {
        (*bucket)->advance((*bucket)->limit(), now);
      }
    }
  }

  // Returns the key's entry, made if there is room.
  Table::iterator find(KeyId key, std::int64_t now) {
    const auto id = static_cast<std::int64_t>(key);
    if (const auto found = usage_.find(id); found != usage_.end()) {
      return found;
    }
    if (usage_.size() >= max_keys_ && now - swept_us_ >= kSweepEveryUs) {
      swept_us_ = now;
      for (auto entry = usage_.begin(); entry != usage_.end();) {
        advance(entry->second, now);
        entry = entry->second.idle() ? usage_.erase(entry) : std::next(entry);
      }
    }
    return usage_.size() >= max_keys_ ? usage_.end() : usage_.try_emplace(id).first;
  }

  std::int64_t now_us() const {
    return std::chrono::floor<microseconds>(clock_.now().time_since_epoch()).count();
  }

  const Clock& clock_;
  const std::size_t max_keys_;
  mutable std::mutex mutex_;
  Table usage_;
  std::int64_t swept_us_ = std::numeric_limits<std::int64_t>::min() / 2;
};

Lease& Lease::operator=(Lease&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(key_, other.key_);
  std::swap(taken_, other.taken_);
  std::swap(rates_, other.rates_);
  return *this;
}

Lease::~Lease() {
  if (state_) {
    state_->end(key_, taken_, std::nullopt);
  }
}

void Lease::settle(std::int64_t actual_tokens) {
  std::exchange(state_, nullptr)->end(key_, taken_, actual_tokens);
}

RateLimiter::RateLimiter(const Clock& clock, std::size_t max_keys)
    : state_(std::make_shared<RateLimiterState>(clock, max_keys)) {}

std::variant<Lease, Refusal> RateLimiter::reserve(KeyId key, const KeyLimits& limits,
                                                  const Need& need) {
  return state_->reserve(Lease(state_, key), limits, need);
}

std::variant<Lease, Refusal> RateLimiter::reserve_request(KeyId key, const KeyLimits& limits) {
  return state_->reserve(Lease(state_, key), limits, std::nullopt);
}

RateStatuses RateLimiter::rates(KeyId key, const KeyLimits& limits) const {
  return state_->rates(key, limits);
}

std::size_t RateLimiter::tracked_keys() const { return state_->size(); }

}  // namespace daybreak::access
