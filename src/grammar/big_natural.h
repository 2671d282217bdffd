// SPDX-License-Identifier: Apache-2.0
#pragma once

// BigNatural: a natural number of any size, exact. For the sizes of numbers in JSON (thousands of
// digits at most), so everything is the school method.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybreak::grammar {

class BigNatural {
 public:
  BigNatural() = default;  // 0
  explicit BigNatural(unsigned __int128 value);
  // REQUIRES: only the characters 0 to 9; an empty text is 0.
  static BigNatural from_digits(std::string_view digits);
  static BigNatural pow10(std::size_t exponent);

  [[nodiscard]] bool zero() const { return limbs_.empty(); }
  [[nodiscard]] bool even() const { return limbs_.empty() || limbs_[0] % 2 == 0; }
  // "0" for 0, otherwise without leading zeros.
  [[nodiscard]] std::string to_string() const;
  // Returns min(value, 2^128 - 1).
  [[nodiscard]] unsigned __int128 saturated() const;

  friend bool operator==(const BigNatural&, const BigNatural&) = default;
  friend std::strong_ordering operator<=>(const BigNatural& a, const BigNatural& b);
  friend BigNatural operator+(const BigNatural& a, const BigNatural& b);
  // REQUIRES: a >= b.
  friend BigNatural operator-(const BigNatural& a, const BigNatural& b);
  friend BigNatural operator*(const BigNatural& a, const BigNatural& b);
  // REQUIRES: b > 0.
  friend BigNatural operator/(const BigNatural& a, const BigNatural& b);
  friend BigNatural operator%(const BigNatural& a, const BigNatural& b);
  // Returns quotient and remainder. REQUIRES: divisor > 0.
  [[nodiscard]] std::pair<BigNatural, BigNatural> divide(const BigNatural& divisor) const;

 private:
  void trim();
  // value = value * factor + addend; returns nothing, grows as needed.
  void multiply_add(std::uint32_t factor, std::uint32_t addend);
  // value /= divisor; returns the remainder.
  std::uint32_t divide_small(std::uint32_t divisor);
  std::vector<std::uint32_t> limbs_;  // least significant first, the last one is not 0
};

[[nodiscard]] BigNatural gcd(BigNatural a, BigNatural b);
// REQUIRES: a, b > 0.
[[nodiscard]] BigNatural lcm(const BigNatural& a, const BigNatural& b);

}  // namespace daybreak::grammar
