// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rng: a small seeded generator whose sequence is the same on every platform, unlike the standard
// library's distributions. For tests, retries and shuffles; sampling uses position-keyed noise.

#include <cstdint>

#include "base/hash.h"

namespace daybreak {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    const std::uint64_t value = mix64(state_);
    state_ += 0x9E3779B97F4A7C15ULL;
    return value;
  }

  // Returns a number in [0, bound). REQUIRES: bound > 0. Bias below bound / 2^32: good enough for
  // bounds a test uses.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

  // Returns a number in [0, 1), a multiple of 2^-24.
  [[nodiscard]] float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24F; }

 private:
  std::uint64_t state_;
};

}  // namespace daybreak
