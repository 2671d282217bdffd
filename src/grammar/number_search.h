// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumberSearch: exact questions about the members of a NumberLanguage, on a grid so fine that every
// number that can be spelled lies on it. Slow and always right: NumberLexer asks here what its
// 128-bit arithmetic cannot answer.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/big_natural.h"
#include "grammar/budget.h"
#include "grammar/number_language.h"

namespace daybreak::grammar {

// Returns `value` in units of 10^-digits for a value > 0 whose multiples are asked on that grid:
// the units of the smallest common multiple of `value` and 10^-digits. At most `max_digits` + 1
// digits: a larger one is returned as some number that large, of which only 0 is a multiple below.
[[nodiscard]] BigNatural step_on_grid(const Decimal& value, std::size_t digits,
                                      std::size_t max_digits);

// Immutable, thread-safe.
class NumberSearch {
 public:
  // REQUIRES: max_bytes >= 1; kMaxNumberBytes except in tests.
  explicit NumberSearch(const NumberLanguage& language, std::size_t max_bytes = kMaxNumberBytes);

  // The sizes |x| of numbers x of one sign. Units are 10^-max_bytes.
  struct Half {
    bool empty = false;
    BigNatural low, high;              // included; high is beyond every spelling if there is none
    std::vector<BigNatural> excluded;  // sorted
  };
  [[nodiscard]] const Half& half(bool negative) const { return halves_[negative ? 1 : 0]; }
  [[nodiscard]] std::size_t digits() const { return digits_; }

  // A range of sizes, both ends included, in units.
  struct Range {
    BigNatural first, last;
  };
  // Whether the bounds of the language apply to the range, or were seen to hold for all of it.
  enum class Bounds : bool { kAsked, kHold };
  // Returns whether a member with at most `fraction` digits after the point is in the range, other
  // than those of `also_excluded` (sorted). kHold: exclusions do not apply either.
  [[nodiscard]] bool exists(bool negative, const Range& range, std::size_t fraction, Bounds bounds,
                            std::span<const Decimal> also_excluded) const;
  // Returns whether any member of the sign can be spelled (-0 counts as negative).
  [[nodiscard]] bool any(bool negative, std::span<const Decimal> also_excluded) const;
  // The same without exclusions, spending `steps` for every number of digits before the point that
  // is tried. Errors: kTooLarge.
  [[nodiscard]] Result<bool> any(bool negative, std::uint64_t steps, Budget& budget) const;
  // Returns the number of members, saturated at `cap`.
  [[nodiscard]] std::uint64_t count(std::uint64_t cap) const;

 private:
  // Tries one number of digits before the point after the other while keep_on() says so.
  template <class KeepOn>
  [[nodiscard]] bool any_of_lengths(bool negative, std::span<const Decimal> also_excluded,
                                    const KeepOn& keep_on) const;
  Half make_half(const NumberLanguage& language, bool negative) const;
  [[nodiscard]] BigNatural step_for(std::size_t fraction) const;
  [[nodiscard]] std::vector<BigNatural> sizes(std::span<const Decimal> values, bool negative) const;
  // Members below 0 (if negative) or from 0 on.
  [[nodiscard]] std::uint64_t count_half(bool negative, std::uint64_t cap) const;
  // The multiples of `step` in a range that are multiples of no skips_[skip...], by inclusion and
  // exclusion.
  [[nodiscard]] BigNatural members(const Range& range, const BigNatural& step,
                                   std::size_t skip) const;

  std::size_t digits_;
  BigNatural one_;                 // 1 in units
  BigNatural step_;                // members are multiples of it
  std::vector<BigNatural> skips_;  // and of none of these
  std::array<Half, 2> halves_;
};

}  // namespace daybreak::grammar
