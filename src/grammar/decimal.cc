// SPDX-License-Identifier: Apache-2.0
#include "grammar/decimal.h"

#include <algorithm>
#include <cstddef>

#include "grammar/big_natural.h"

namespace daybreak::grammar {
namespace {

// Plain spellings of up to this many zeros beside the digits; longer ones take an exponent.
constexpr std::int64_t kMaxPlainZeros = 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns how many of the characters at `at` are digits.
std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  return end - at;
}

Error not_a_number(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return Error{Errc::kInvalidArgument, "expected a JSON number, found \"" +
                                           std::string(text.substr(0, kShown)) +
                                           (text.size() > kShown ? "...\"" : "\"")};
}

// Reads [+-]digits. Returns a size beyond kMaxDecimalExponent as just beyond it.
std::int64_t read_exponent(std::string_view text) {
  const bool negative = text.front() == '-';
  if (!is_digit(text.front())) {
    text.remove_prefix(1);
  }
  std::int64_t size = 0;
  for (const char digit : text) {
    size = std::min(size * 10 + (digit - '0'), kMaxDecimalExponent + 1);
  }
  return negative ? -size : size;
}

}  // namespace

Decimal::Decimal(std::int64_t value) : negative_(value < 0) {
  const std::uint64_t size =
      negative_ ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  digits_ = std::to_string(size);
  normalize();
}

Decimal Decimal::scaled(bool negative, std::string digits, std::int64_t exponent) {
  Decimal out;
  out.negative_ = negative;
  out.digits_ = std::move(digits);
  out.exponent_ = exponent;
  out.normalize();
  return out;
}

void Decimal::normalize() {
  digits_.erase(0, std::min(digits_.find_first_not_of('0'), digits_.size()));
  const std::size_t kept = digits_.find_last_not_of('0') + 1;  // npos + 1 is 0
  exponent_ += static_cast<std::int64_t>(digits_.size() - kept);
  digits_.resize(kept);
  if (digits_.empty()) {
    negative_ = false;
    exponent_ = 0;
  }
}

Result<Decimal> Decimal::parse(std::string_view text) {
  if (text.size() > kMaxDecimalBytes) {
    return Error{Errc::kTooLarge, "expected a number of at most " +
                                      std::to_string(kMaxDecimalBytes) + " bytes, found " +
                                      std::to_string(text.size())};
  }
  Decimal out;
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    out.negative_ = true;
    ++at;
  }
  const std::size_t whole = digits_at(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) {
    return not_a_number(text);
  }
  out.digits_ = text.substr(at, whole);
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_at(text, at + 1);
    if (fraction == 0) {
      return not_a_number(text);
    }
    out.digits_ += text.substr(at + 1, fraction);
    out.exponent_ = -static_cast<std::int64_t>(fraction);
    at += 1 + fraction;
  }
  std::int64_t exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::string_view written = text.substr(at + 1);
    const std::size_t sign = written.starts_with('+') || written.starts_with('-') ? 1 : 0;
    const std::size_t count = digits_at(written, sign);
    if (count == 0) {
      return not_a_number(text);
    }
    exponent = read_exponent(written.substr(0, sign + count));
    at += 1 + sign + count;
  }
  if (at != text.size()) {
    return not_a_number(text);
  }
  out.exponent_ += exponent;
  out.normalize();
  if (!out.zero() && (exponent > kMaxDecimalExponent || exponent < -kMaxDecimalExponent)) {
    return Error{Errc::kTooLarge, "expected an exponent between -" +
                                      std::to_string(kMaxDecimalExponent) + " and " +
                                      std::to_string(kMaxDecimalExponent) + ", found more"};
  }
  return out;
}

bool Decimal::multiple_of(const Decimal& divisor) const {
  if (zero()) {
    return true;
  }
  // digits * 10^shift must be a multiple of the divisor's digits. With shift < 0 it would have to
  // be a multiple of 10, and digits has no trailing zero.
  const std::int64_t shift = exponent_ - divisor.exponent_;
  if (shift < 0) {
    return false;
  }
  // A divisor below 10^n has fewer than 4n factors 2 or 5: further zeros change nothing.
  const std::int64_t useful =
      std::min(shift, static_cast<std::int64_t>(4 * divisor.digits_.size()));
  const BigNatural d = BigNatural::from_digits(divisor.digits_);
  const BigNatural zeros = BigNatural::pow10(static_cast<std::size_t>(useful)) % d;
  return (BigNatural::from_digits(digits_) % d * zeros % d).zero();
}

std::string Decimal::to_string() const {
  if (zero()) {
    return "0";
  }
  std::string out = negative_ ? "-" : "";
  const auto size = static_cast<std::int64_t>(digits_.size());
  const std::int64_t point = size + exponent_;  // digits before the point
  if (exponent_ >= 0 && exponent_ <= kMaxPlainZeros) {
    return out + digits_ + std::string(static_cast<std::size_t>(exponent_), '0');
  }
  if (exponent_ < 0 && point > 0) {
    const auto whole = static_cast<std::size_t>(point);
    return out + digits_.substr(0, whole) + "." + digits_.substr(whole);
  }
  if (exponent_ < 0 && point > -kMaxPlainZeros) {
    return out + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits_;
  }
  out += digits_[0];
  if (size > 1) {
    out += "." + digits_.substr(1);
  }
  return out + "e" + std::to_string(point - 1);
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.zero() || b.zero() || a.negative_ != b.negative_) {
    const int sign_a = a.zero() ? 0 : (a.negative_ ? -1 : 1);
    const int sign_b = b.zero() ? 0 : (b.negative_ ? -1 : 1);
    return sign_a <=> sign_b;
  }
  const Decimal& small = a.negative_ ? b : a;  // if a < b
  const Decimal& large = a.negative_ ? a : b;
  // The place of the first digit decides, then the digits as text.
  const auto small_place = static_cast<std::int64_t>(small.digits_.size()) + small.exponent_;
  const auto large_place = static_cast<std::int64_t>(large.digits_.size()) + large.exponent_;
  if (small_place != large_place) {
    return small_place <=> large_place;
  }
  return small.digits_ <=> large.digits_;
}

}  // namespace daybreak::grammar
