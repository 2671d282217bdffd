// SPDX-License-Identifier: Apache-2.0
#include "engine/fixed_math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace daybreak::engine {
namespace {

// ln 2 in two parts; the high one has 44 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;
constexpr std::size_t kBlock = 512;

}  // namespace

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
  const double e = static_cast<double>(exponent);
  return e * kLn2High + (2.0 * s + (2.0 * s * (z * series) + e * kLn2Low));
}

double fixed_exp(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  if (x < -708.0) {
    return 0.0;
  }
  // x = k ln 2 + r with |r| <= ln(2) / 2; e^r by its Taylor series, terms left out below 2^-57.
  const double k = std::floor(x * kLog2E + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  constexpr std::array kFactorials = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0,
                                      40320.0,      5040.0,      720.0,      120.0,     24.0,
                                      6.0,          2.0,         1.0};
  double series = 0.0;
  for (const double factorial : kFactorials) {
    series = series * r + 1.0 / factorial;  // constants: no division is left when compiled
  }
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023);
  return (1.0 + r * series) * std::bit_cast<double>(exponent << 52);
}

double log_sum_exp(std::span<const float> row) {
  const auto max = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double total = 0;
  for (std::size_t begin = 0; begin < row.size(); begin += kBlock) {
    double sum = 0;
    for (const float x : row.subspan(begin, std::min(kBlock, row.size() - begin))) {
      sum += fixed_exp(static_cast<double>(x) - max);
    }
    total += sum;
  }
  return max + fixed_log(total);
}

}  // namespace daybreak::engine
