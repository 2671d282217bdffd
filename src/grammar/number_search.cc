// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_search.h"

#include <algorithm>
#include <optional>

namespace daybreak::grammar {
namespace {

// The decimal place of the first digit: 1 for 1 to 9, 0 for 0.1 to 0.9. REQUIRES: value != 0.
std::int64_t place(const Decimal& value) {
  return static_cast<std::int64_t>(value.digits().size()) + value.exponent();
}

enum class Round : bool { kDown, kUp };

// Returns |value| in units of 10^-digits. REQUIRES: place(value) is small.
BigNatural size_on_grid(const Decimal& value, std::size_t digits, Round round) {
  if (value.zero()) {
    return {};
  }
  const std::int64_t shift = value.exponent() + static_cast<std::int64_t>(digits);
  const BigNatural whole = BigNatural::from_digits(value.digits());
  if (shift >= 0) {
    return whole * BigNatural::pow10(static_cast<std::size_t>(shift));
  }
  const BigNatural up(round == Round::kUp ? 1 : 0);
  const auto cut = static_cast<std::uint64_t>(-shift);
  if (cut >= value.digits().size()) {
    return up;  // less than one unit, and not 0
  }
  // The digits that are cut off are not all 0: a Decimal has no trailing zeros.
  return whole / BigNatural::pow10(cut) + up;
}

bool on_grid(const Decimal& value, std::size_t digits) {
  return value.exponent() >= -static_cast<std::int64_t>(digits);
}

}  // namespace

BigNatural step_on_grid(const Decimal& value, std::size_t digits, std::size_t max_digits) {
  const std::int64_t shift = value.exponent() + static_cast<std::int64_t>(digits);
  const auto limit = static_cast<std::int64_t>(max_digits);
  BigNatural whole = BigNatural::from_digits(value.digits());
  if (shift < 0) {
    // lcm(d * 10^-k, 1) = d / gcd(d, 10^k), and a d of n digits has fewer than 4n factors 2 or 5.
    const auto useful =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(-shift), 4 * value.digits().size());
    whole = whole / gcd(whole, BigNatural::pow10(useful) % whole);
  }
  const BigNatural huge = BigNatural::pow10(max_digits);
  if (shift > limit || whole > huge) {
    return huge;
  }
  return shift > 0 ? std::min(whole * BigNatural::pow10(static_cast<std::size_t>(shift)), huge)
                   : whole;
}

NumberSearch::NumberSearch(const NumberLanguage& language, std::size_t max_bytes)
    : digits_(max_bytes), one_(BigNatural::pow10(max_bytes)), step_(1) {
  // Sizes stay below 10^(2 * digits_); a longer step has no multiple but 0 among them.
  const std::size_t longest = 2 * digits_;
  const BigNatural huge = BigNatural::pow10(longest);
  if (language.integers == NumberLanguage::Integers::kOnly) {
    step_ = one_;
  }
  for (const Decimal& multiple : language.multiples) {
    step_ = std::min(lcm(step_, step_on_grid(multiple, digits_, longest)), huge);
  }
  for (const Decimal& multiple : language.not_multiples) {
    skips_.push_back(step_on_grid(multiple, digits_, longest));
  }
  if (language.integers == NumberLanguage::Integers::kNone) {
    skips_.push_back(one_);
  }
  halves_ = {make_half(language, false), make_half(language, true)};
}

NumberSearch::Half NumberSearch::make_half(const NumberLanguage& language, bool negative) const {
  // As seen from 0, the near bound of a positive number is `low`, that of a negative one `high`.
  const std::optional<NumberBound>& near = negative ? language.high : language.low;
  const std::optional<NumberBound>& far = negative ? language.low : language.high;
  const auto limit = static_cast<std::int64_t>(digits_);
  Half half;
  half.high = BigNatural::pow10(2 * digits_) - BigNatural(1);
  if (near && (near->value.zero() || near->value.negative() == negative)) {
    if (!near->value.zero() && place(near->value) > limit) {
      half.empty = true;
      return half;
    }
    half.low = size_on_grid(near->value, digits_, Round::kUp);
    if (near->exclusive && on_grid(near->value, digits_)) {
      half.low = half.low + BigNatural(1);
    }
  }
  if (far && !far->value.zero() && far->value.negative() != negative) {
    half.empty = true;  // all of this sign and 0 are beyond it
    return half;
  }
  if (far && (far->value.zero() || place(far->value) <= limit)) {
    half.high = size_on_grid(far->value, digits_, Round::kDown);
    if (far->exclusive && on_grid(far->value, digits_)) {
      if (half.high.zero()) {
        half.empty = true;
        return half;
      }
      half.high = half.high - BigNatural(1);
    }
  }
  half.empty = half.low > half.high;
  half.excluded = sizes(language.excluded, negative);
  return half;
}

std::vector<BigNatural> NumberSearch::sizes(std::span<const Decimal> values, bool negative) const {
  std::vector<BigNatural> out;
  for (const Decimal& value : values) {
    if (value.zero()) {
      out.emplace_back();
    } else if (value.negative() == negative && on_grid(value, digits_) &&
               place(value) <= static_cast<std::int64_t>(digits_)) {
      out.push_back(size_on_grid(value, digits_, Round::kDown));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

BigNatural NumberSearch::step_for(std::size_t fraction) const {
  return fraction >= digits_ ? step_ : lcm(step_, BigNatural::pow10(digits_ - fraction));
}

bool NumberSearch::exists(bool negative, const Range& range, std::size_t fraction, Bounds bounds,
                          std::span<const Decimal> also_excluded) const {
  const Half& own = half(negative);
  BigNatural first = range.first;
  BigNatural last = range.last;
  if (bounds == Bounds::kAsked) {
    if (own.empty) {
      return false;
    }
    first = std::max(first, own.low);
    last = std::min(last, own.high);
  }
  if (first > last) {
    return false;
  }
  const BigNatural step = step_for(fraction);
  BigNatural at = (first + step - BigNatural(1)) / step * step;
  if (at > last ||
      std::ranges::any_of(skips_, [&](const BigNatural& skip) { return (step % skip).zero(); })) {
    return false;
  }
  const std::vector<BigNatural> more = sizes(also_excluded, negative);
  // Ends soon: no skip divides the step, so runs of skipped multiples are short (Jacobsthal's
  // function of at most kMaxNotMultiples + 1 primes is 58), and every exclusion adds at most one.
  for (; at <= last; at = at + step) {
    const bool skipped =
        std::ranges::any_of(skips_, [&](const BigNatural& skip) { return (at % skip).zero(); });
    if (!skipped && (bounds == Bounds::kHold || (!std::ranges::binary_search(own.excluded, at) &&
                                                 !std::ranges::binary_search(more, at)))) {
      return true;
    }
  }
  return false;
}

template <class KeepOn>
bool NumberSearch::any_of_lengths(bool negative, std::span<const Decimal> also_excluded,
                                  const KeepOn& keep_on) const {
  const std::size_t used = negative ? 1 : 0;
  Range range{BigNatural(), one_ * BigNatural(10) - BigNatural(1)};
  for (std::size_t whole = 1; used + whole <= digits_; ++whole) {
    if (half(negative).empty || range.first > half(negative).high || !keep_on()) {
      return false;
    }
    const std::size_t left = digits_ - used - whole;
    if (exists(negative, range, left == 0 ? 0 : left - 1, Bounds::kAsked, also_excluded)) {
      return true;
    }
    range.first = range.last + BigNatural(1);
    range.last = range.first * BigNatural(10) - BigNatural(1);
  }
  return false;
}

bool NumberSearch::any(bool negative, std::span<const Decimal> also_excluded) const {
  return any_of_lengths(negative, also_excluded, [] { return true; });
}

Result<bool> NumberSearch::any(bool negative, std::uint64_t steps, Budget& budget) const {
  Status spent = ok();
  const bool found = any_of_lengths(negative, {}, [&] {
    spent = budget.spend(steps, "numbers");
    return spent.has_value();
  });
  DAYBREAK_CHECK_OK(spent);
  return found;
}

BigNatural NumberSearch::members(const Range& range, const BigNatural& step,
                                 std::size_t skip) const {
  if (step > range.last) {
    // Only 0 is left, and it is a multiple of every skip.
    return BigNatural(range.first.zero() && skip == skips_.size() ? 1 : 0);
  }
  if (skip < skips_.size()) {
    return members(range, step, skip + 1) - members(range, lcm(step, skips_[skip]), skip + 1);
  }
  const BigNatural up_to_last = range.last / step;
  return range.first.zero() ? up_to_last + BigNatural(1)
                            : up_to_last - (range.first - BigNatural(1)) / step;
}

std::uint64_t NumberSearch::count_half(bool negative, std::uint64_t cap) const {
  const Half& own = half(negative);
  const std::size_t used = negative ? 1 : 0;
  const BigNatural limit(cap);
  BigNatural total;
  Range digits{BigNatural(negative ? 1 : 0), one_ * BigNatural(10) - BigNatural(1)};
  for (std::size_t whole = 1; used + whole <= digits_ && total < limit; ++whole) {
    if (own.empty || digits.first > own.high) {
      break;
    }
    const Range range{std::max(digits.first, own.low), std::min(digits.last, own.high)};
    digits.first = digits.last + BigNatural(1);
    digits.last = digits.first * BigNatural(10) - BigNatural(1);
    if (range.first > range.last) {
      continue;
    }
    const std::size_t left = digits_ - used - whole;
    const BigNatural step = step_for(left == 0 ? 0 : left - 1);
    total = total + members(range, step, 0);
    for (const BigNatural& out : own.excluded) {
      if (out >= range.first && out <= range.last && (out % step).zero() &&
          std::ranges::none_of(skips_,
                               [&](const BigNatural& skip) { return (out % skip).zero(); })) {
        total = total - BigNatural(1);
      }
    }
  }
  return static_cast<std::uint64_t>(std::min<unsigned __int128>(total.saturated(), cap));
}

std::uint64_t NumberSearch::count(std::uint64_t cap) const {
  const std::uint64_t positive = count_half(false, cap);  // and 0
  return positive + count_half(true, cap - positive);
}

}  // namespace daybreak::grammar
