// SPDX-License-Identifier: Apache-2.0
#pragma once

// Helpers shared by the kernel tests. Test code only.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/dispatch.h"

namespace daybreak::kernels::testing {

inline constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// Lengths around every boundary of the kernels: lanes, groups, chunks.
inline constexpr std::size_t kEdgeLengths[] = {0,  1,   2,   7,   8,   9,   15,   16,   31,
                                               33, 127, 511, 512, 513, 519, 1024, 1025, 1543};

// Normal values, a few of them far out.
inline std::vector<float> random_floats(std::size_t n, unsigned seed, float scale = 1.0f) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) {
    value = normal(rng) * scale * (rng() % 64 == 0 ? 50.0f : 1.0f);
  }
  return values;
}

// The same bits, except that any NaN equals any NaN.
inline bool same_bits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

inline ::testing::AssertionResult same_bits(const std::vector<float>& a,
                                            const std::vector<float>& b) {
  if (a.size() != b.size()) {
    return ::testing::AssertionFailure() << "sizes " << a.size() << " and " << b.size();
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) {
      return ::testing::AssertionFailure() << "element " << i << " of " << a.size() << ": "
                                           << std::hexfloat << a[i] << " and " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

// A test case runs once per table this CPU has; "scalar" is the twin the others must equal.
class PerTable : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  static const KernelTable& table() { return *GetParam(); }
  static const KernelTable& scalar() { return *available().front(); }
};

inline std::string table_name(const ::testing::TestParamInfo<const KernelTable*>& info) {
  return std::string(info.param->isa);
}

}  // namespace daybreak::kernels::testing

#define DAYBREAK_PER_TABLE(suite)                                                       \
  INSTANTIATE_TEST_SUITE_P(Isa, suite,                                                  \
                           ::testing::ValuesIn(available().begin(), available().end()), \
                           ::daybreak::kernels::testing::table_name)
