// SPDX-License-Identifier: Apache-2.0
#include "engine/gumbel.h"

#include <bit>

#include "base/hash.h"

namespace daybreak::engine {

double fixed_log(double x) {
  constexpr std::uint64_t kMantissa = (1ULL << 52) - 1;
  constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDULL;  // bits of sqrt(1/2)
  // x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)): the exponent is counted from sqrt(1/2).
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t offset = bits - kSqrtHalf;
  const auto exponent = static_cast<std::int64_t>(offset) >> 52;
  const double m = std::bit_cast<double>((offset & kMantissa) + kSqrtHalf);
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716: the terms left out are below 2^-60.
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double series = 1.0 / 21.0;
  for (const double odd : {19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0}) {
    series = series * z + 1.0 / odd;
  }
  constexpr double kLn2High = 0x1.62e42fefa38p-1;  // 44 bits: exact when multiplied by an exponent
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  const double e = static_cast<double>(exponent);
  return e * kLn2High + (2.0 * s + (2.0 * s * (z * series) + e * kLn2Low));
}

GumbelRow::GumbelRow(std::uint64_t seed, std::uint32_t choice, std::uint64_t position)
    : key_(mix64(mix64(mix64(seed) ^ choice) ^ position)) {}

double GumbelRow::operator()(TokenId id) const {
  const std::uint64_t hash = mix64(key_ ^ id);
  // 52 bits and a half: the sum is exact, so u is never rounded up to 1.
  const double u = (static_cast<double>(hash >> 12) + 0.5) * 0x1p-52;
  return -fixed_log(-fixed_log(u));
}

}  // namespace daybreak::engine
