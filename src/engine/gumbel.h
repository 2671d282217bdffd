// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gumbel noise keyed by position: the randomness of sampling. argmax over ids of (log-weight +
// noise) draws an id with probability proportional to its weight, and because the noise depends on
// nothing but (seed, choice, position, id), the same seed gives the same text in any batch, with
// any split of the work and after any restart (numerics rule 8).
//
// Double precision (fixed_math.h): the winning ids live in the upper tail of the noise, where
// floats have too few values.

#include <bit>
#include <cstdint>

#include "base/hash.h"
#include "base/token.h"

namespace daybreak::engine {

// No noise is larger: u is at most 1 - 2^-53, and -log(-log(1 - 2^-53)) = 36.74.
inline constexpr double kMaxGumbel = 36.75;

// The noise of one row of logits: one choice of one request at one position.
class GumbelRow {
 public:
  // `position` is absolute: the number of ids before the one to be drawn, prompt included.
  GumbelRow(std::uint64_t seed, std::uint32_t choice, std::uint64_t position);

  // Returns the noise of one id: -log(-log(u)), u uniform in (0, 1).
  [[nodiscard]] double operator()(TokenId id) const { return noise(hash(id)); }

  // The same in two steps, for callers that can often do without the second. bound(h) >= noise(h)
  // costs next to nothing: -log(-log(u)) <= -log(1 - u), and a hash that begins with n ones gives
  // 1 - u >= 2^-(n + 1).
  [[nodiscard]] std::uint64_t hash(TokenId id) const { return mix64(key_ ^ id); }
  [[nodiscard]] static double bound(std::uint64_t hash) {
    constexpr double kAboveLn2 = 0.6932;
    return kAboveLn2 * (std::countl_one(hash) + 1);
  }
  [[nodiscard]] static double noise(std::uint64_t hash);

 private:
  std::uint64_t key_;
};

}  // namespace daybreak::engine
