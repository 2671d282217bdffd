// SPDX-License-Identifier: Apache-2.0
#pragma once

// QuotaBook: what each key has used of its UTC day and month, kept in memory so that a check asks
// no database. What requests in flight may still use is reserved, so a quota is never passed.

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "access/api_key.h"
#include "access/refusal.h"
#include "access/utc_time.h"

namespace daybreak::access {

struct QuotaAmount {
  std::int64_t tokens = 0;
  std::int64_t micro_usd = 0;
};

// What a key has used, of the day and month in which it was summed.
struct QuotaSums {
  std::int64_t day_tokens = 0;
  std::int64_t month_tokens = 0;
  std::int64_t month_micro_usd = 0;
};

class QuotaBookState;

// A reservation; gives itself back when it goes. May outlive its book.
class QuotaHold {
 public:
  QuotaHold(QuotaHold&& other) noexcept = default;
  QuotaHold& operator=(QuotaHold&& other) noexcept;
  ~QuotaHold();

  // Replaces what was reserved by what was used. REQUIRES: at most once; no amount negative.
  void settle(const QuotaAmount& actual);

 private:
  friend class QuotaBook;
  QuotaHold(std::shared_ptr<QuotaBookState> state, KeyId key, const QuotaAmount& held)
      : state_(std::move(state)), key_(key), held_(held) {}

  std::shared_ptr<QuotaBookState> state_;  // shared with the book; null: ended
  KeyId key_;
  QuotaAmount held_;
};

// Thread-safe. Holds one small entry per key ever used, so at most kMaxKeys and the anonymous one.
// When the machine's time is set back, usage goes on counting for the later day and month until
// they come again: a quota is not given twice.
class QuotaBook {
 public:
  // `clock` must outlive the book and its holds.
  explicit QuotaBook(const UtcClock& clock);

  // Sets what was used before, at the clock's present day and month.
  void load(KeyId key, const QuotaSums& sums);

  // Reserves `estimate` if what is used, reserved and estimated stays within every quota.
  // Refusals: kTokensPerDay, kTokensPerMonth, kMoneyPerMonth, with the time until the day or month
  // ends; kTooLarge when the estimate alone passes the quota.
  [[nodiscard]] std::variant<QuotaHold, Refusal> reserve(KeyId key, const KeyLimits& limits,
                                                         const QuotaAmount& estimate);

  // Returns whether reserve() would let it in now.
  [[nodiscard]] bool fits(KeyId key, const KeyLimits& limits, const QuotaAmount& estimate) const;

  // Takes back what a settle() counted, for a request found to be counted already.
  void take_back(KeyId key, const QuotaAmount& amount);

  [[nodiscard]] QuotaSums sums(KeyId key) const;

 private:
  std::shared_ptr<QuotaBookState> state_;
};

}  // namespace daybreak::access
