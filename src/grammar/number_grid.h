// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumberGrid: the questions of NumberSearch in 128-bit arithmetic, for the languages and prefixes
// that fit: what a digit may be is asked a thousand times for one mask.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "grammar/number_search.h"

namespace daybreak::grammar {

using Uint128 = unsigned __int128;

// Returns 10^exponent. REQUIRES: exponent <= kGridDigits.
[[nodiscard]] Uint128 grid_power(std::size_t exponent);
// Numbers of up to this many digits are reasoned about here.
inline constexpr std::size_t kGridDigits = 37;

// Immutable, thread-safe. Units are 10^-digits().
class NumberGrid {
 public:
  using Bounds = NumberSearch::Bounds;

  // Returns the grid of a language, or nothing when it does not fit.
  static std::optional<NumberGrid> make(const NumberLanguage& language, const NumberSearch& search);

  // Digits after the point of the grid.
  [[nodiscard]] std::size_t digits() const { return digits_; }
  // Whether members lie between the points of the grid too (no multipleOf, not only integers). The
  // grid is then ten times finer than bounds, exclusions and negated multiples, so that a range
  // that begins and ends on those has one member or, from two points on, as many as one likes.
  [[nodiscard]] bool dense() const { return dense_; }
  // Whether multiples are asked, wanted or unwanted ones.
  [[nodiscard]] bool steps_asked() const { return step_ != 1 || !skips_.empty(); }
  // Digits after the point beyond which a digit but 0 says that a number is neither a bound nor
  // excluded nor a negated multiple (dense), or that it is no member (otherwise).
  [[nodiscard]] std::size_t base() const { return dense_ ? digits_ - 1 : digits_; }

  // Returns whether a member is in the range first to last. REQUIRES: last < 10^(kGridDigits + 1);
  // if dense(), a range of at least ten points that begins on a multiple of ten.
  [[nodiscard]] bool exists(bool negative, Uint128 first, Uint128 last, Bounds bounds,
                            std::span<const Decimal> also_excluded) const;
  // Returns whether members lie within the range other than its first and last point. dense() only.
  [[nodiscard]] bool has_inside(bool negative, Uint128 first, Uint128 last, Bounds bounds) const;
  // Returns whether the point `at` is a member.
  [[nodiscard]] bool contains(bool negative, Uint128 at, Bounds bounds,
                              std::span<const Decimal> also_excluded) const;
  // Whether the whole range is within the bounds.
  [[nodiscard]] bool within(bool negative, Uint128 first, Uint128 last) const {
    return first >= halves_[negative ? 1 : 0].low && last <= halves_[negative ? 1 : 0].high;
  }
  // Whether it is above the upper bound.
  [[nodiscard]] bool beyond(bool negative, Uint128 at) const {
    return at > halves_[negative ? 1 : 0].high;
  }
  [[nodiscard]] bool empty(bool negative) const { return halves_[negative ? 1 : 0].empty; }

  // Returns m such that two prefixes that are equal modulo m, with `fraction` digits after the
  // point, have the same multiples among their completions; 0: not known.
  [[nodiscard]] std::uint64_t modulus(std::size_t fraction) const { return moduli_[fraction]; }

 private:
  struct Half {
    bool empty = false;
    Uint128 low = 0, high = 0;      // clipped to what is beyond every range asked
    std::vector<Uint128> excluded;  // sorted
  };
  [[nodiscard]] bool multiple(Uint128 at) const;  // of step_ and of no skip
  [[nodiscard]] bool excluded(bool negative, Uint128 at, std::span<const Uint128> more) const;
  // The points of the values of one sign that have one, sorted.
  [[nodiscard]] std::vector<Uint128> points(std::span<const Decimal> values, bool negative) const;
  bool set_steps(const NumberLanguage& language);
  bool set_half(const NumberSearch::Half& exact, std::size_t exact_digits, bool negative);

  std::size_t digits_ = 0;
  bool dense_ = false;
  std::uint64_t step_ = 1;
  std::vector<std::uint64_t> skips_;
  std::vector<std::uint64_t> moduli_;  // [digits_ + 1]
  std::array<Half, 2> halves_;
};

}  // namespace daybreak::grammar
