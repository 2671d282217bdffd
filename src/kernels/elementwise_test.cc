// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "kernels/elementary.h"
#include "kernels/kernel_testing.h"
#include "kernels/norm.h"

namespace daybreak::kernels {
namespace {

using testing::kEdgeLengths;
using testing::kEpsilon;
using testing::random_floats;
using testing::same_bits;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

class ElementwiseTest : public testing::PerTable {};
DAYBREAK_PER_TABLE(ElementwiseTest);

// Runs `kernel` on n elements inside a larger array and checks each against `expected`; the element
// behind the end must stay.
void check(const std::function<void(float* y, const float* x, std::size_t n)>& kernel,
           const std::function<float(float y, float x)>& expected) {
  for (const std::size_t n : kEdgeLengths) {
    const std::vector<float> x = random_floats(n + 1, 1, 3.0f);
    std::vector<float> y = random_floats(n + 1, 2, 3.0f);
    const std::vector<float> before = y;
    kernel(y.data(), x.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_TRUE(same_bits(y[i], expected(before[i], x[i]))) << "n " << n << " element " << i;
    }
    ASSERT_EQ(y[n], before[n]) << "n " << n;
  }
}

TEST_P(ElementwiseTest, EachKernelIsItsFormulaPerElement) {
  const KernelTable& t = table();
  check([&](float* y, const float* x, std::size_t n) { t.add_inplace(y, x, n); },
        [](float y, float x) { return y + x; });
  check([&](float* y, const float*, std::size_t n) { t.scale_inplace(y, 0.7f, n); },
        [](float y, float) { return y * 0.7f; });
  check([&](float* y, const float* x, std::size_t n) { t.scaled_add(y, 0.7f, x, n); },
        [](float y, float x) { return std::fma(0.7f, x, y); });
  check([&](float* y, const float* x, std::size_t n) { t.sigmoid_mul(y, x, n); },
        [](float y, float x) { return y * sigmoid(x); });
  check([&](float* y, const float* x, std::size_t n) { t.silu_mul(x, y, y, n); },
        [](float y, float x) { return silu(x) * y; });
  const float b2 = 25.0f;
  check([&](float* y, const float* x, std::size_t n) { t.situ_mul(x, y, 4.0f, &b2, y, n); },
        [](float y, float x) {
          return 4.0f * tanh(x / 4.0f) * sigmoid(x) * (25.0f * tanh(y / 25.0f));
        });
  check([&](float* y, const float* x, std::size_t n) { t.situ_mul(x, y, 4.0f, nullptr, y, n); },
        [](float y, float x) { return 4.0f * tanh(x / 4.0f) * sigmoid(x) * y; });
}

// SiTU is bounded by beta * linear_beta however large its inputs; the gate's sigmoid is uncapped.
TEST_P(ElementwiseTest, SituIsBoundedAndGatesByTheUncappedValue) {
  const std::vector<float> gate = {1e30f, 1e30f, -1e30f, -20.0f};
  const std::vector<float> up = {1e30f, -1e30f, 1e30f, 1e30f};
  std::vector<float> out(4);
  const float b2 = 25.0f;
  table().situ_mul(gate.data(), up.data(), 4.0f, &b2, out.data(), 4);
  EXPECT_EQ(out[0], 100.0f);
  EXPECT_EQ(out[1], -100.0f);
  EXPECT_EQ(out[2], 0.0f);
  // With the capped gate the last would be about -100 * sigmoid(-4) = -1.8.
  EXPECT_NEAR(out[3], -100.0f * 2.0611537e-9f, 1e-9f);
}

TEST_P(ElementwiseTest, RmsNormIsWithinRoundingOfTheFormula) {
  for (const std::size_t n : kEdgeLengths) {
    if (n == 0) {
      continue;
    }
    const std::vector<float> x = random_floats(n, 3);
    const std::vector<float> weight = random_floats(n, 4);
    double squares = 0;
    for (const float v : x) {
      squares += double{v} * double{v};
    }
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
    std::vector<float> y(n);
    table().rms_norm(x.data(), weight.data(), 1e-5f, n, y.data());
    std::vector<float> twin(n);
    scalar().rms_norm(x.data(), weight.data(), 1e-5f, n, twin.data());
    EXPECT_TRUE(same_bits(y, twin)) << n;
    for (std::size_t i = 0; i < n; ++i) {
      const double exact = x[i] * inverse * weight[i];
      // The sum contributes at most half its 70 roundings, the rest five more.
      EXPECT_NEAR(y[i], exact, 40 * kEpsilon * std::abs(exact)) << n << " " << i;
    }
    table().rms_norm(x.data(), nullptr, 1e-5f, n, y.data());
    EXPECT_NEAR(y[0], x[0] * inverse, 40 * kEpsilon * std::abs(x[0] * inverse));
  }
}

TEST_P(ElementwiseTest, RmsNormMayWorkInPlaceAndOfZerosIsZero) {
  std::vector<float> x = random_floats(77, 5);
  std::vector<float> y(77);
  table().rms_norm(x.data(), nullptr, 1e-6f, 77, y.data());
  table().rms_norm(x.data(), nullptr, 1e-6f, 77, x.data());
  EXPECT_TRUE(same_bits(x, y));
  std::vector<float> zeros(9, 0.0f);
  table().rms_norm(zeros.data(), nullptr, 1e-6f, 9, zeros.data());
  EXPECT_EQ(zeros, std::vector<float>(9, 0.0f));
}

// eps is added to the sum of squares, not to their mean and not outside the root.
TEST_P(ElementwiseTest, L2NormalizeAddsEpsToTheSum) {
  std::vector<float> x = {3.0f, 4.0f};
  table().l2_normalize(x.data(), 2, 11.0f, 2.0f, x.data());
  EXPECT_EQ(x[0], 3.0f * (2.0f / 6.0f));
  EXPECT_EQ(x[1], 4.0f * (2.0f / 6.0f));
}

TEST_P(ElementwiseTest, MaxIgnoresOrderAndNan) {
  EXPECT_EQ(table().max_of(nullptr, 0), -kInf);
  for (const std::size_t n : {1u, 7u, 8u, 9u, 100u}) {
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<float> x(n, kNotANumber);
      EXPECT_EQ(table().max_of(x.data(), n), -kInf);
      x[at] = -5.0f;
      EXPECT_EQ(table().max_of(x.data(), n), -5.0f) << n << " " << at;
    }
  }
  const std::vector<float> zeros = {-0.0f, 0.0f, -0.0f};
  EXPECT_TRUE(same_bits(table().max_of(zeros.data(), 3), 0.0f));
}

TEST_P(ElementwiseTest, SoftmaxSumsToOneAndMasksExactly) {
  for (const std::size_t n : kEdgeLengths) {
    if (n == 0) {
      continue;
    }
    std::vector<float> x = random_floats(n, 6, 4.0f);
    if (n > 1) {
      x[n / 2] = -kInf;
    }
    const std::vector<float> before = x;
    std::vector<float> twin = x;
    table().softmax_inplace(x.data(), n);
    scalar().softmax_inplace(twin.data(), n);
    EXPECT_TRUE(same_bits(x, twin)) << n;
    double max = -1e300;
    for (const float v : before) {
      max = std::max(max, double{v});
    }
    double sum = 0;
    for (const float v : before) {
      sum += std::exp(double{v} - max);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double exact = std::exp(double{before[i]} - max) / sum;
      // x - max is rounded once, and exp turns that into a relative error of |x - max| half ulps.
      const double bound = (45 + std::abs(double{before[i]} - max)) * kEpsilon;
      EXPECT_NEAR(x[i], exact, before[i] == -kInf ? 0.0 : bound * exact + 1e-44) << n << " " << i;
    }
  }
}

// Equal to rule 1's dot with ones, whose chunk matmul_test.cc pins to 512.
TEST_P(ElementwiseTest, SumExpOfBlocksOf512AddsUpToTheWhole) {
  const std::vector<float> ones(1300, 1.0f);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::vector<float> x = random_floats(1300, seed, 0.1f);
    const float max = table().max_of(x.data(), x.size());
    float total = 0.0f;
    for (std::size_t begin = 0; begin < x.size(); begin += 512) {
      total += table().sum_exp(x.data() + begin, std::min<std::size_t>(512, x.size() - begin), max);
    }
    std::vector<float> e(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      e[i] = exp(x[i] - max);
    }
    EXPECT_TRUE(same_bits(total, table().sum_exp(x.data(), x.size(), max))) << seed;
    EXPECT_TRUE(same_bits(total, scalar().dot(e.data(), ones.data(), e.size()))) << seed;
  }
}

TEST(LogSumExp, MatchesDoubleAndKnowsInfinities) {
  const std::vector<float> x = random_floats(1300, 8, 4.0f);
  double sum = 0;
  for (const float v : x) {
    sum += std::exp(double{v});
  }
  EXPECT_NEAR(log_sum_exp(x.data(), x.size()), std::log(sum), 1e-4);
  EXPECT_EQ(log_sum_exp(nullptr, 0), -kInf);
  const std::vector<float> minus(3, -kInf);
  EXPECT_EQ(log_sum_exp(minus.data(), 3), -kInf);
  const std::vector<float> nan = {-kInf, kNotANumber};
  EXPECT_TRUE(std::isnan(log_sum_exp(nan.data(), 2)));
  const std::vector<float> mixed = {1.0f, kNotANumber};
  EXPECT_TRUE(std::isnan(log_sum_exp(mixed.data(), 2)));
  const float one = 1000.0f;
  EXPECT_EQ(log_sum_exp(&one, 1), 1000.0f);
}

}  // namespace
}  // namespace daybreak::kernels
