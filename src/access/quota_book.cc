// SPDX-License-Identifier: Apache-2.0
#include "access/quota_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "access/prices.h"

namespace daybreak::access {
namespace {

struct Account {
  std::int64_t day = 0;
  std::int64_t month = 0;
  QuotaSums sums;
  QuotaAmount held;

  // Begins a new day or month.
  void advance(UtcMicros now) {
    if (const std::int64_t today = utc_day(now); today > day) {
      day = today;
      sums.day_tokens = 0;
    }
    if (const std::int64_t this_month = utc_month(now); this_month > month) {
      month = this_month;
      sums.month_tokens = 0;
      sums.month_micro_usd = 0;
    }
  }
  void count(const QuotaAmount& amount) {
    sums.day_tokens += amount.tokens;
    sums.month_tokens += amount.tokens;
    sums.month_micro_usd += amount.micro_usd;
  }
};

struct Quota {
  LimitKind kind;
  std::optional<std::int64_t> limit;
  std::int64_t used;  // and reserved
  std::int64_t wanted;
  UtcMicros ends;
  const char* period;

  // "100 tokens", "$0.50".
  [[nodiscard]] std::string text(std::int64_t amount) const {
    return kind == LimitKind::kMoneyPerMonth ? "$" + format_usd(amount)
                                             : fmt::format("{} tokens", amount);
  }
};

std::optional<Refusal> check(const Quota& quota, UtcMicros now) {
  if (!quota.limit || quota.wanted <= *quota.limit - quota.used) {
    return std::nullopt;
  }
  Refusal out;
  out.limit = quota.kind;
  if (quota.wanted > *quota.limit) {
    out.error = {
        Errc::kTooLarge,
        fmt::format("the request may use {}, more than the key's quota of {} {} ever allows",
                    quota.text(quota.wanted), quota.text(*quota.limit), quota.period)};
    return out;
  }
  out.retry_after = std::chrono::microseconds(std::max<std::int64_t>(quota.ends - now, 1));
  out.error = {Errc::kResourceLimit,
               fmt::format("of the key's quota of {} {}, {} are used or reserved, and the request "
                           "may use {}; it is renewed at {}",
                           quota.text(*quota.limit), quota.period, quota.text(quota.used),
                           quota.text(quota.wanted), format_utc(quota.ends))};
  return out;
}

}  // namespace

class QuotaBookState {
 public:
  explicit QuotaBookState(const UtcClock& clock) : clock_(clock) {}

  std::optional<Refusal> reserve(KeyId key, const KeyLimits& limits, const QuotaAmount& estimate) {
    const std::lock_guard lock(mutex_);
    const UtcMicros now = clock_.now();
    Account& account = advanced(key, now);
    if (auto refusal = check_all(account, limits, estimate, now)) {
      return refusal;
    }
    account.held.tokens += estimate.tokens;
    account.held.micro_usd += estimate.micro_usd;
    return std::nullopt;
  }

  bool fits(KeyId key, const KeyLimits& limits, const QuotaAmount& estimate) {
    const std::lock_guard lock(mutex_);
    const UtcMicros now = clock_.now();
    return !check_all(advanced(key, now), limits, estimate, now);
  }

  void end(KeyId key, const QuotaAmount& held, const QuotaAmount& actual) {
    const std::lock_guard lock(mutex_);
    Account& account = advanced(key, clock_.now());
    account.held.tokens -= held.tokens;
    account.held.micro_usd -= held.micro_usd;
    account.count(actual);
  }

  void load(KeyId key, const QuotaSums& sums) {
    const std::lock_guard lock(mutex_);
    advanced(key, clock_.now()).sums = sums;
  }

  void take_back(KeyId key, const QuotaAmount& amount) {
    const std::lock_guard lock(mutex_);
    QuotaSums& sums = advanced(key, clock_.now()).sums;
    // A day or month that began in between does not hold it.
    sums.day_tokens -= std::min(amount.tokens, sums.day_tokens);
    sums.month_tokens -= std::min(amount.tokens, sums.month_tokens);
    sums.month_micro_usd -= std::min(amount.micro_usd, sums.month_micro_usd);
  }

  QuotaSums sums(KeyId key) {
    const std::lock_guard lock(mutex_);
    return advanced(key, clock_.now()).sums;
  }

 private:
  static std::optional<Refusal> check_all(const Account& account, const KeyLimits& limits,
                                          const QuotaAmount& estimate, UtcMicros now) {
    const UtcMicros day_ends = day_start(account.day + 1);
    const UtcMicros month_ends = month_start(account.month + 1);
    const std::int64_t held = account.held.tokens;
    for (const Quota& quota :
         {Quota{LimitKind::kMoneyPerMonth, limits.micro_usd_per_month,
                account.sums.month_micro_usd + account.held.micro_usd, estimate.micro_usd,
                month_ends, "a month"},
          Quota{LimitKind::kTokensPerMonth, limits.tokens_per_month,
                account.sums.month_tokens + held, estimate.tokens, month_ends, "a month"},
          Quota{LimitKind::kTokensPerDay, limits.tokens_per_day, account.sums.day_tokens + held,
                estimate.tokens, day_ends, "a day"}}) {
      if (auto refusal = check(quota, now)) {
        return refusal;
      }
    }
    return std::nullopt;
  }

  Account& advanced(KeyId key, UtcMicros now) {
    Account& account = accounts_[static_cast<std::int64_t>(key)];
    account.advance(now);
    return account;
  }

  const UtcClock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::int64_t, Account> accounts_;
};

QuotaHold& QuotaHold::operator=(QuotaHold&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(key_, other.key_);
  std::swap(held_, other.held_);
  return *this;
}

QuotaHold::~QuotaHold() {
  if (state_) {
    state_->end(key_, held_, {});
  }
}

void QuotaHold::settle(const QuotaAmount& actual) {
  std::exchange(state_, nullptr)->end(key_, held_, actual);
}

QuotaBook::QuotaBook(const UtcClock& clock) : state_(std::make_shared<QuotaBookState>(clock)) {}

void QuotaBook::load(KeyId key, const QuotaSums& sums) { state_->load(key, sums); }

std::variant<QuotaHold, Refusal> QuotaBook::reserve(KeyId key, const KeyLimits& limits,
                                                    const QuotaAmount& estimate) {
  if (auto refusal = state_->reserve(key, limits, estimate)) {
    return *std::move(refusal);
  }
  return QuotaHold(state_, key, estimate);
}

bool QuotaBook::fits(KeyId key, const KeyLimits& limits, const QuotaAmount& estimate) const {
  return state_->fits(key, limits, estimate);
}

void QuotaBook::take_back(KeyId key, const QuotaAmount& amount) { state_->take_back(key, amount); }
QuotaSums QuotaBook::sums(KeyId key) const { return state_->sums(key); }

}  // namespace daybreak::access
