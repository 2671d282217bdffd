// SPDX-License-Identifier: Apache-2.0
#include "grammar/big_natural.h"

#include <algorithm>
#include <array>
#include <bit>

namespace daybreak::grammar {
namespace {

constexpr std::size_t kChunkDigits = 9;  // of decimal digits that fit one limb
constexpr std::array<std::uint32_t, kChunkDigits + 1> kChunkPowers = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

std::uint32_t low32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

// Returns limbs << shift with one more limb at the top. REQUIRES: shift < 32.
std::vector<std::uint32_t> shifted(const std::vector<std::uint32_t>& limbs, int shift) {
  std::vector<std::uint32_t> out(limbs.size() + 1, 0);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    carry |= std::uint64_t{limbs[i]} << shift;
    out[i] = low32(carry);
    carry >>= 32;
  }
  out.back() = low32(carry);
  return out;
}

// Subtracts q * divisor from the limbs of `rest` that begin at `at`; where that is too much, takes
// one divisor back. Returns the q that was right (Knuth, TAOCP 4.3.1, algorithm D, steps 4 to 6).
std::uint64_t subtract_product(std::vector<std::uint32_t>& rest, std::size_t at,
                               const std::vector<std::uint32_t>& divisor, std::size_t size,
                               std::uint64_t q) {
  std::uint64_t carry = 0;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < size; ++i) {
    carry += q * divisor[i];
    const std::int64_t diff = std::int64_t{rest[at + i]} - std::int64_t{low32(carry)} + borrow;
    rest[at + i] = low32(static_cast<std::uint64_t>(diff));
    borrow = diff >> 32;
    carry >>= 32;
  }
  const std::int64_t top =
      std::int64_t{rest[at + size]} - static_cast<std::int64_t>(carry) + borrow;
  rest[at + size] = low32(static_cast<std::uint64_t>(top));
  if (top >= 0) {
    return q;
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += std::uint64_t{rest[at + i]} + divisor[i];
    rest[at + i] = low32(sum);
    sum >>= 32;
  }
  rest[at + size] += low32(sum);
  return q - 1;
}

}  // namespace

BigNatural::BigNatural(unsigned __int128 value) {
  for (; value != 0; value >>= 32) {
    limbs_.push_back(static_cast<std::uint32_t>(value));
  }
}

void BigNatural::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) {
    limbs_.pop_back();
  }
}

void BigNatural::multiply_add(std::uint32_t factor, std::uint32_t addend) {
  std::uint64_t carry = addend;
  for (std::uint32_t& limb : limbs_) {
    carry += std::uint64_t{limb} * factor;
    limb = low32(carry);
    carry >>= 32;
  }
  if (carry != 0) {
    limbs_.push_back(low32(carry));
  }
}

std::uint32_t BigNatural::divide_small(std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    rest = (rest << 32) | limbs_[i];
    limbs_[i] = low32(rest / divisor);
    rest %= divisor;
  }
  trim();
  return low32(rest);
}

BigNatural BigNatural::from_digits(std::string_view digits) {
  BigNatural out;
  while (!digits.empty()) {
    const std::size_t size = std::min(digits.size(), kChunkDigits);
    std::uint32_t chunk = 0;
    for (const char digit : digits.substr(0, size)) {
      chunk = chunk * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    out.multiply_add(kChunkPowers[size], chunk);
    digits.remove_prefix(size);
  }
  return out;
}

BigNatural BigNatural::pow10(std::size_t exponent) {
  BigNatural out(1);
  for (; exponent > 0; exponent -= std::min(exponent, kChunkDigits)) {
    out.multiply_add(kChunkPowers[std::min(exponent, kChunkDigits)], 0);
  }
  return out;
}

std::string BigNatural::to_string() const {
  if (zero()) {
    return "0";
  }
  std::string out;  // reversed
  BigNatural rest = *this;
  while (!rest.zero()) {
    std::uint32_t chunk = rest.divide_small(kChunkPowers[kChunkDigits]);
    for (std::size_t i = 0; i < kChunkDigits && (chunk != 0 || !rest.zero()); ++i) {
      out += static_cast<char>('0' + chunk % 10);
      chunk /= 10;
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

unsigned __int128 BigNatural::saturated() const {
  if (limbs_.size() > 4) {
    return ~static_cast<unsigned __int128>(0);
  }
  unsigned __int128 out = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    out = (out << 32) | limbs_[i];
  }
  return out;
}

std::strong_ordering operator<=>(const BigNatural& a, const BigNatural& b) {
  if (a.limbs_.size() != b.limbs_.size()) {
    return a.limbs_.size() <=> b.limbs_.size();
  }
  for (std::size_t i = a.limbs_.size(); i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) {
      return a.limbs_[i] <=> b.limbs_[i];
    }
  }
  return std::strong_ordering::equal;
}

BigNatural operator+(const BigNatural& a, const BigNatural& b) {
  if (a.limbs_.size() < b.limbs_.size()) {
    return b + a;
  }
  BigNatural out = a;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < out.limbs_.size(); ++i) {
    carry += std::uint64_t{out.limbs_[i]} + (i < b.limbs_.size() ? b.limbs_[i] : 0);
    out.limbs_[i] = low32(carry);
    carry >>= 32;
  }
  if (carry != 0) {
    out.limbs_.push_back(low32(carry));
  }
  return out;
}

BigNatural operator-(const BigNatural& a, const BigNatural& b) {
  BigNatural out = a;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < out.limbs_.size(); ++i) {
    const std::int64_t diff = std::int64_t{out.limbs_[i]} -
                              (i < b.limbs_.size() ? std::int64_t{b.limbs_[i]} : 0) + borrow;
    out.limbs_[i] = low32(static_cast<std::uint64_t>(diff));
    borrow = diff >> 32;
  }
  out.trim();
  return out;
}

BigNatural operator*(const BigNatural& a, const BigNatural& b) {
  BigNatural out;
  out.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += std::uint64_t{a.limbs_[i]} * b.limbs_[j] + out.limbs_[i + j];
      out.limbs_[i + j] = low32(carry);
      carry >>= 32;
    }
    out.limbs_[i + b.limbs_.size()] = low32(carry);
  }
  out.trim();
  return out;
}

std::pair<BigNatural, BigNatural> BigNatural::divide(const BigNatural& divisor) const {
  if (*this < divisor) {
    return {BigNatural(), *this};
  }
  BigNatural quotient;
  BigNatural rest;
  if (divisor.limbs_.size() == 1) {
    quotient = *this;
    rest = BigNatural(quotient.divide_small(divisor.limbs_[0]));
    return {std::move(quotient), std::move(rest)};
  }
  const std::size_t size = divisor.limbs_.size();
  const int shift = std::countl_zero(divisor.limbs_.back());
  const std::vector<std::uint32_t> d = shifted(divisor.limbs_, shift);
  rest.limbs_ = shifted(limbs_, shift);
  quotient.limbs_.assign(limbs_.size() - size + 1, 0);
  const std::uint64_t first = d[size - 1];
  const std::uint64_t second = d[size - 2];
  for (std::size_t at = quotient.limbs_.size(); at-- > 0;) {
    const std::uint64_t head =
        (std::uint64_t{rest.limbs_[at + size]} << 32) | rest.limbs_[at + size - 1];
    std::uint64_t q = head / first;
    std::uint64_t r = head % first;
    while (q >> 32 != 0 || q * second > ((r << 32) | rest.limbs_[at + size - 2])) {
      --q;
      r += first;
      if (r >> 32 != 0) {
        break;
      }
    }
    quotient.limbs_[at] = low32(subtract_product(rest.limbs_, at, d, size, q));
  }
  for (std::size_t i = 0; i + 1 < rest.limbs_.size(); ++i) {
    const std::uint64_t pair = (std::uint64_t{rest.limbs_[i + 1]} << 32) | rest.limbs_[i];
    rest.limbs_[i] = low32(pair >> shift);
  }
  rest.limbs_.back() >>= shift;
  quotient.trim();
  rest.trim();
  return {std::move(quotient), std::move(rest)};
}

BigNatural operator/(const BigNatural& a, const BigNatural& b) { return a.divide(b).first; }
BigNatural operator%(const BigNatural& a, const BigNatural& b) { return a.divide(b).second; }

BigNatural gcd(BigNatural a, BigNatural b) {
  while (!b.zero()) {
    a = std::exchange(b, a % b);
  }
  return a;
}

BigNatural lcm(const BigNatural& a, const BigNatural& b) { return a / gcd(a, b) * b; }

}  // namespace daybreak::grammar
