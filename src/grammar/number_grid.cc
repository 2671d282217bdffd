// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_grid.h"

#include <algorithm>
#include <numeric>

namespace daybreak::grammar {
namespace {

constexpr std::size_t kMaxGridFraction = 18;  // leaves as many digits before the point
constexpr Uint128 kMaxStep = 1'000'000'000'000'000'000;
constexpr std::uint64_t kMaxModulus = std::uint64_t{1} << 63;

constexpr std::array<Uint128, kGridDigits + 2> make_powers() {
  std::array<Uint128, kGridDigits + 2> out{1};
  for (std::size_t i = 1; i < out.size(); ++i) {
    out[i] = out[i - 1] * 10;
  }
  return out;
}
constexpr auto kPowers = make_powers();

std::size_t fraction_digits(const Decimal& value) {
  return value.exponent() < 0 ? static_cast<std::size_t>(-value.exponent()) : 0;
}

Uint128 remainder(Uint128 a, std::uint64_t b) {
  // 64-bit division is several times faster than 128-bit.
  return (a >> 64) == 0 ? static_cast<std::uint64_t>(a) % b : a % b;
}

// Returns the point of |value|, or nothing if it is not on the grid or beyond what is asked.
std::optional<Uint128> point_of(const Decimal& value, std::size_t digits) {
  const std::int64_t zeros = value.exponent() + static_cast<std::int64_t>(digits);
  if (zeros < 0 || static_cast<std::int64_t>(value.digits().size()) + zeros >
                       static_cast<std::int64_t>(kGridDigits) + 1) {
    return std::nullopt;
  }
  Uint128 out = 0;
  for (const char digit : value.digits()) {
    out = out * 10 + static_cast<Uint128>(digit - '0');
  }
  return out * kPowers[static_cast<std::size_t>(zeros)];
}

}  // namespace

Uint128 grid_power(std::size_t exponent) { return kPowers[exponent]; }

std::optional<NumberGrid> NumberGrid::make(const NumberLanguage& language,
                                           const NumberSearch& search) {
  NumberGrid grid;
  const bool only = language.integers == NumberLanguage::Integers::kOnly;
  grid.dense_ = !only && language.multiples.empty();
  std::size_t fraction = 0;
  if (grid.dense_) {
    for (const auto& bound : {language.low, language.high}) {
      fraction = std::max(fraction, bound ? fraction_digits(bound->value) : 0);
    }
    for (const auto* list : {&language.not_multiples, &language.excluded}) {
      for (const Decimal& value : *list) {
        fraction = std::max(fraction, fraction_digits(value));
      }
    }
    ++fraction;
  } else if (!only) {
    fraction = fraction_digits(*std::ranges::min_element(language.multiples, {}, fraction_digits));
  }
  if (fraction > kMaxGridFraction) {
    return std::nullopt;
  }
  grid.digits_ = fraction;
  if (!grid.set_steps(language) || !grid.set_half(search.half(false), search.digits(), false) ||
      !grid.set_half(search.half(true), search.digits(), true)) {
    return std::nullopt;
  }
  return grid;
}

bool NumberGrid::set_steps(const NumberLanguage& language) {
  BigNatural step(1);
  const auto fits = [](const BigNatural& value) { return value.saturated() <= kMaxStep; };
  for (const Decimal& multiple : language.multiples) {
    step = lcm(step, step_on_grid(multiple, digits_, kGridDigits));
    if (!fits(step)) {
      return false;
    }
  }
  BigNatural period = step;
  const auto skip = [&](const Decimal& multiple) {
    const BigNatural own = step_on_grid(multiple, digits_, kGridDigits);
    period = lcm(period, own);
    skips_.push_back(static_cast<std::uint64_t>(own.saturated()));
    return fits(own);
  };
  for (const Decimal& multiple : language.not_multiples) {
    if (!skip(multiple)) {
      return false;
    }
  }
  if (language.integers == NumberLanguage::Integers::kNone && !skip(Decimal(1))) {
    return false;
  }
  step_ = static_cast<std::uint64_t>(step.saturated());
  // A step that is a multiple of a skip leaves nothing, and the search would never find it out.
  if (std::ranges::any_of(skips_, [&](std::uint64_t own) { return step_ % own == 0; })) {
    return false;
  }
  const Uint128 whole = period.saturated();
  for (std::size_t i = 0; i <= digits_; ++i) {
    const auto scale = static_cast<std::uint64_t>(kPowers[digits_ - i]);
    moduli_.push_back(whole > kMaxModulus ? 0
                                          : static_cast<std::uint64_t>(whole) /
                                                std::gcd(static_cast<std::uint64_t>(whole), scale));
  }
  return true;
}

bool NumberGrid::set_half(const NumberSearch::Half& exact, std::size_t exact_digits,
                          bool negative) {
  Half& half = halves_[negative ? 1 : 0];
  half.empty = exact.empty;
  if (half.empty) {
    half.low = 1;
    return true;
  }
  if (exact_digits < digits_) {
    return false;
  }
  const BigNatural unit = BigNatural::pow10(exact_digits - digits_);
  const Uint128 beyond = kPowers[kGridDigits + 1];
  half.low = std::min(((exact.low + unit - BigNatural(1)) / unit).saturated(), beyond);
  half.high = std::min((exact.high / unit).saturated(), beyond);
  for (const BigNatural& value : exact.excluded) {
    if ((value % unit).zero()) {
      half.excluded.push_back(std::min((value / unit).saturated(), beyond));
    }
  }
  return true;
}

bool NumberGrid::multiple(Uint128 at) const {
  return (step_ == 1 || remainder(at, step_) == 0) &&
         std::ranges::none_of(skips_, [&](std::uint64_t skip) { return remainder(at, skip) == 0; });
}

bool NumberGrid::excluded(bool negative, Uint128 at, std::span<const Uint128> more) const {
  return std::ranges::binary_search(halves_[negative ? 1 : 0].excluded, at) ||
         std::ranges::binary_search(more, at);
}

std::vector<Uint128> NumberGrid::points(std::span<const Decimal> values, bool negative) const {
  std::vector<Uint128> out;
  for (const Decimal& value : values) {
    if (value.zero() || value.negative() == negative) {
      if (const auto point = point_of(value, digits_)) {
        out.push_back(*point);
      }
    }
  }
  std::ranges::sort(out);
  return out;
}

bool NumberGrid::contains(bool negative, Uint128 at, Bounds bounds,
                          std::span<const Decimal> also_excluded) const {
  return multiple(at) &&
         (bounds == Bounds::kHold ||
          (within(negative, at, at) && !excluded(negative, at, points(also_excluded, negative))));
}

bool NumberGrid::exists(bool negative, Uint128 first, Uint128 last, Bounds bounds,
                        std::span<const Decimal> also_excluded) const {
  if (bounds == Bounds::kAsked) {
    const Half& half = halves_[negative ? 1 : 0];
    first = std::max(first, half.low);
    last = std::min(last, half.high);
  }
  if (first > last) {
    return false;
  }
  if (dense_ && first < last) {
    return true;
  }
  const Uint128 over = step_ == 1 ? 0 : remainder(first, step_);
  std::vector<Uint128> more;
  bool asked = false;
  for (Uint128 at = over == 0 ? first : first + (step_ - over); at <= last; at += step_) {
    if (!multiple(at)) {
      continue;
    }
    if (bounds == Bounds::kHold) {
      return true;
    }
    if (!asked && !also_excluded.empty()) {
      more = points(also_excluded, negative);
    }
    asked = true;
    if (!excluded(negative, at, more)) {
      return true;
    }
  }
  return false;
}

bool NumberGrid::has_inside(bool negative, Uint128 first, Uint128 last, Bounds bounds) const {
  const Half& half = halves_[negative ? 1 : 0];
  return bounds == Bounds::kHold || std::max(first, half.low) < std::min(last, half.high);
}

}  // namespace daybreak::grammar
