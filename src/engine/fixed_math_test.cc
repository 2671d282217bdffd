// SPDX-License-Identifier: Apache-2.0
#include "engine/fixed_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

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

TEST(FixedExp, AgreesWithTheLibraryWithinTwoUlp) {
  Rng rng(4);
  double worst = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double u = static_cast<double>(rng.next() >> 12) * 0x1p-52;
    for (const double x : {u, -u, -40 * u, -708 * u, 700 * u}) {
      const double expected = std::exp(x);
      const double ulp = expected * std::numeric_limits<double>::epsilon();
      worst = std::max(worst, std::abs(fixed_exp(x) - expected) / ulp);
    }
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(fixed_exp(0.0), 1.0);
  EXPECT_EQ(fixed_exp(-708.5), 0.0);
  EXPECT_EQ(fixed_exp(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(LogSumExp, AgreesWithALongDoubleSum) {
  Rng rng(5);
  for (const std::size_t size : {1U, 2U, 511U, 512U, 513U, 5000U}) {
    std::vector<float> row(size);
    long double sum = 0;
    for (float& x : row) {
      x = rng.uniform() * 60 - 30;
      sum += std::exp(static_cast<long double>(x));
    }
    EXPECT_NEAR(log_sum_exp(row), static_cast<double>(std::log(sum)), 1e-13) << size;
  }
  const float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(log_sum_exp(std::vector<float>{-kInf, 3, -kInf}), 3.0);
  EXPECT_EQ(log_sum_exp(std::vector<float>{0x1p127F, 0x1p127F}), 0x1p127);  // no overflow
}

}  // namespace
}  // namespace daybreak::engine
