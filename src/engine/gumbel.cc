// SPDX-License-Identifier: Apache-2.0
#include "engine/gumbel.h"

#include "engine/fixed_math.h"

namespace daybreak::engine {

GumbelRow::GumbelRow(std::uint64_t seed, std::uint32_t choice, std::uint64_t position)
    : key_(mix64(mix64(mix64(seed) ^ choice) ^ position)) {}

double GumbelRow::noise(std::uint64_t hash) {
  // 52 bits and a half: the sum is exact, so u is never rounded up to 1.
  const double u = (static_cast<double>(hash >> 12) + 0.5) * 0x1p-52;
  return -fixed_log(-fixed_log(u));
}

}  // namespace daybreak::engine
