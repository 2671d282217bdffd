// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decimal: an exact number of JSON. 0.1 is one tenth here, 1e400 is larger than 1e399, and 1.0, 1
// and 10e-1 are one value.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::grammar {

inline constexpr std::size_t kMaxDecimalBytes = 4'300;  // as base/json_tree.h
inline constexpr std::int64_t kMaxDecimalExponent = 1'000'000'000;

class Decimal {
 public:
  Decimal() = default;  // 0
  explicit Decimal(std::int64_t value);
  // Returns (negative ? -1 : 1) * digits * 10^exponent. REQUIRES: digits are 0 to 9, any number of
  // them; an exponent that fits with room to spare.
  [[nodiscard]] static Decimal scaled(bool negative, std::string digits, std::int64_t exponent);
  // Reads the spelling of a JSON number. Errors: kInvalidArgument (not a JSON number), kTooLarge
  // (longer than kMaxDecimalBytes, or not 0 and with a written exponent beyond
  // +-kMaxDecimalExponent).
  [[nodiscard]] static Result<Decimal> parse(std::string_view text);

  // The value is (negative ? -1 : 1) * digits * 10^exponent; digits has neither leading nor
  // trailing zeros, and is empty for 0 (then exponent is 0 and negative is false).
  [[nodiscard]] bool negative() const { return negative_; }
  [[nodiscard]] const std::string& digits() const { return digits_; }
  [[nodiscard]] std::int64_t exponent() const { return exponent_; }

  [[nodiscard]] bool zero() const { return digits_.empty(); }
  [[nodiscard]] bool integer() const { return exponent_ >= 0; }
  // Exact whatever the exponents, in time and memory of the digits alone. REQUIRES: divisor > 0.
  [[nodiscard]] bool multiple_of(const Decimal& divisor) const;
  // A plain spelling without exponent where that is short, else with one.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);

 private:
  void normalize();
  bool negative_ = false;
  std::string digits_;
  std::int64_t exponent_ = 0;
};

}  // namespace daybreak::grammar
