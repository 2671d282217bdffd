// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>

namespace daybreak {
namespace {

TEST(Rng, GivesTheSplitMix64Sequence) {
  Rng rng(0);
  EXPECT_EQ(rng.next(), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(rng.next(), 0x6E789E6AA1B965F4ULL);
  EXPECT_EQ(rng.next(), 0x06C45D188009454FULL);
}

TEST(Rng, BelowCoversItsRangeEvenly) {
  Rng rng(7);
  std::array<int, 5> counts{};
  for (int i = 0; i < 50'000; ++i) {
    ++counts.at(rng.below(5));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 400);
  }
}

TEST(Rng, UniformStaysBelowOne) {
  Rng rng(11);
  float low = 1;
  float high = 0;
  for (int i = 0; i < 100'000; ++i) {
    const float u = rng.uniform();
    low = std::min(low, u);
    high = std::max(high, u);
  }
  EXPECT_GE(low, 0.0F);
  EXPECT_LT(high, 1.0F);
  EXPECT_LT(low, 0.001F);
  EXPECT_GT(high, 0.999F);
}

}  // namespace
}  // namespace daybreak
