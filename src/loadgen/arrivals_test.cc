// SPDX-License-Identifier: Apache-2.0
#include "loadgen/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace daybreak::loadgen {
namespace {

struct Moments {
  double mean = 0, variance = 0, least = 1e300;
};

Moments moments_of(Arrivals arrivals, std::size_t count) {
  Moments out;
  double before = 0;
  double square = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = arrivals.next();
    out.mean += (at - before) / static_cast<double>(count);
    square += (at - before) * (at - before) / static_cast<double>(count);
    out.least = std::min(out.least, at - before);
    before = at;
  }
  out.variance = square - out.mean * out.mean;
  return out;
}

// A gamma variable of shape b and mean 1/r has the variance 1/(b r^2). The seeds are fixed, so that
// this is arithmetic; the bounds are five standard errors.
TEST(Arrivals, HaveTheMomentsOfTheGammaDistribution) {
  constexpr std::size_t kCount = 200'000;
  for (const double burstiness : {0.25, 1.0, 4.0}) {
    for (const double rate : {0.5, 40.0}) {
      const Moments m = moments_of(Arrivals(rate, burstiness, 7), kCount);
      const double variance = 1 / (burstiness * rate * rate);
      EXPECT_NEAR(m.mean, 1 / rate, 5 * std::sqrt(variance / kCount));
      // The kurtosis of the distribution is 3 + 6 / b.
      EXPECT_NEAR(m.variance, variance, 5 * variance * std::sqrt((2 + 6 / burstiness) / kCount));
      EXPECT_GE(m.least, 0);
    }
  }
}

// P(X < mean) of an exponential variable is 1 - 1/e.
TEST(Arrivals, AreAPoissonProcessForBurstinessOne) {
  Arrivals arrivals(2, 1, 3);
  double before = 0;
  std::size_t below = 0;
  constexpr std::size_t kCount = 100'000;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double at = arrivals.next();
    below += at - before < 0.5 ? 1 : 0;
    before = at;
  }
  EXPECT_NEAR(static_cast<double>(below) / kCount, 1 - std::exp(-1.0), 0.008);
}

TEST(Arrivals, AreEvenForInfiniteBurstiness) {
  Arrivals arrivals(4, std::numeric_limits<double>::infinity(), 1);
  EXPECT_EQ(arrivals.next(), 0.25);
  EXPECT_EQ(arrivals.next(), 0.5);
}

TEST(Arrivals, FollowFromTheSeed) {
  Arrivals a(1, 0.5, 9);
  Arrivals b(1, 0.5, 9);
  Arrivals c(1, 0.5, 10);
  const double first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

}  // namespace
}  // namespace daybreak::loadgen
