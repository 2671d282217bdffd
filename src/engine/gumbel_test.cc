// SPDX-License-Identifier: Apache-2.0
#include "engine/gumbel.h"

#include <gtest/gtest.h>

namespace daybreak::engine {
namespace {

TEST(GumbelRow, DependsOnEveryPartOfItsKeyAndNothingElse) {
  const double noise = GumbelRow(1, 2, 3)(4);
  EXPECT_EQ(noise, GumbelRow(1, 2, 3)(4));
  EXPECT_NE(noise, GumbelRow(9, 2, 3)(4));
  EXPECT_NE(noise, GumbelRow(1, 9, 3)(4));
  EXPECT_NE(noise, GumbelRow(1, 2, 9)(4));
  EXPECT_NE(noise, GumbelRow(1, 2, 3)(9));
}

TEST(GumbelRow, ItsBoundHoldsAtBothEndsOfTheHash) {
  for (int ones = 0; ones <= 64; ++ones) {
    const std::uint64_t hash = ones == 64 ? ~0ULL : ~(~0ULL >> ones);
    EXPECT_LE(GumbelRow::noise(hash), GumbelRow::bound(hash)) << ones;
    const std::uint64_t rest = ones == 64 ? 0 : ~0ULL >> ones >> 1;
    EXPECT_LE(GumbelRow::noise(hash | rest), GumbelRow::bound(hash)) << ones;
    EXPECT_LT(GumbelRow::noise(hash), kMaxGumbel) << ones;
  }
}

TEST(GumbelRow, HasTheGumbelMeanAndVarianceAndStaysBelowItsBound) {
  constexpr int kDraws = 400'000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t position = 0; position < 400; ++position) {
    const GumbelRow row(77, 0, position);
    for (TokenId id = 0; id < kDraws / 400; ++id) {
      const double noise = row(id);
      ASSERT_LT(noise, kMaxGumbel);
      ASSERT_LE(noise, GumbelRow::bound(row.hash(id)));
      sum += noise;
      squares += noise * noise;
    }
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.57721566, 0.01);                            // Euler-Mascheroni
  EXPECT_NEAR(squares / kDraws - mean * mean, 1.64493407, 0.03);  // pi^2 / 6
}

}  // namespace
}  // namespace daybreak::engine
