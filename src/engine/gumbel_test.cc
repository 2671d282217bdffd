// SPDX-License-Identifier: Apache-2.0
#include "engine/gumbel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace daybreak::engine {
namespace {

TEST(FixedLog, AgreesWithTheLibraryWithinTwoUlp) {
  Rng rng(3);
  double worst = 0;
  const auto compare = [&worst](double x) {
    const double expected = std::log(x);
    const double ulp = std::abs(expected) * std::numeric_limits<double>::epsilon();
    worst = std::max(worst, std::abs(fixed_log(x) - expected) / ulp);
  };
  for (int i = 0; i < 200'000; ++i) {
    const double u = static_cast<double>(rng.next() >> 12) * 0x1p-52 + 0x1p-53;
    compare(u);
    compare(1.0 - u * 0x1p-20);  // the tail that decides argmax
    compare(u * 0x1p80);
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(fixed_log(1.0), 0.0);
  EXPECT_EQ(fixed_log(std::numeric_limits<double>::min()),
            std::log(std::numeric_limits<double>::min()));
}

TEST(FixedLog, KeepsItsBits) {
  // Written down once; a change here changes every sampled text.
  EXPECT_EQ(fixed_log(0.3), -0x1.34378fcbda721p+0);
  EXPECT_EQ(fixed_log(12345.678), 0x1.2d79559791e31p+3);
}

TEST(GumbelRow, DependsOnEveryPartOfItsKeyAndNothingElse) {
  const double noise = GumbelRow(1, 2, 3)(4);
  EXPECT_EQ(noise, GumbelRow(1, 2, 3)(4));
  EXPECT_NE(noise, GumbelRow(9, 2, 3)(4));
  EXPECT_NE(noise, GumbelRow(1, 9, 3)(4));
  EXPECT_NE(noise, GumbelRow(1, 2, 9)(4));
  EXPECT_NE(noise, GumbelRow(1, 2, 3)(9));
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
