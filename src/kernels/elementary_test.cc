// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementary.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/kernel_testing.h"

namespace daybreak::kernels {
namespace {

using testing::same_bits;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

// Distance from `got` to the exact value, in units of the last place of the exact value.
double error_in_ulp(float got, double exact) {
  const double magnitude = std::abs(exact);
  const int exponent = magnitude == 0 ? -149 : std::max(std::ilogb(magnitude) - 23, -149);
  return std::abs(double{got} - exact) / std::ldexp(1.0, exponent);
}

// Every 2000th-odd float of both signs, so all exponents incl. subnormals, plus a fine linear grid.
std::vector<float> sweep(float limit) {
  std::vector<float> xs;
  for (std::uint32_t bits = 0; bits < 0x7f80'0000u; bits += 3989) {
    const float x = std::bit_cast<float>(bits);
    if (x <= limit) {
      xs.push_back(x);
      xs.push_back(-x);
    }
  }
  for (int i = -200000; i <= 200000; ++i) {
    xs.push_back(static_cast<float>(i) * 2.3e-3f / 4.0f);
  }
  return xs;
}

struct Function {
  const char* name;
  float (*ours)(float);
  double (*exact)(double);
  double bound_ulp;
  float limit;
};

double exact_sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double exact_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

constexpr float kHuge = std::numeric_limits<float>::max();
const Function kFunctions[] = {
    {"exp", exp, [](double x) { return std::exp(x); }, 1.0, 88.7f},
    {"sigmoid", sigmoid, exact_sigmoid, 2.5, kHuge},
    {"tanh", tanh, [](double x) { return std::tanh(x); }, 2.0, kHuge},
    {"log", log, [](double x) { return std::log(x); }, 1.0, kHuge},
    {"log1p", log1p, [](double x) { return std::log1p(x); }, 2.0, kHuge},
    {"softplus", softplus, exact_softplus, 2.0, kHuge},
    {"silu", silu, [](double x) { return x * exact_sigmoid(x); }, 3.0, kHuge},
};

TEST(Elementary, ErrorsStayWithinTheStatedUlps) {
  for (const Function& f : kFunctions) {
    double worst = 0;
    float at = 0;
    for (const float x : sweep(f.limit)) {
      const double exact = f.exact(double{x});
      if (std::isnan(exact) || std::abs(exact) > double{kHuge}) {
        continue;
      }
      if (f.ours == silu && x < -87.0f) {
        EXPECT_NEAR(f.ours(x), exact, 2e-43) << std::hexfloat << x;
        continue;
      }
      const double error = error_in_ulp(f.ours(x), exact);
      if (!(error <= worst)) {
        worst = error;
        at = x;
      }
    }
    EXPECT_LE(worst, f.bound_ulp) << f.name << " at " << std::hexfloat << at;
    RecordProperty(std::string(f.name) + "_ulp", std::to_string(worst));
  }
}

TEST(Elementary, NanGivesNan) {
  for (const Function& f : kFunctions) {
    EXPECT_TRUE(std::isnan(f.ours(kNotANumber))) << f.name;
    EXPECT_TRUE(std::isnan(f.ours(-kNotANumber))) << f.name;
  }
}

TEST(Elementary, ExpHasExactEndsAndSubnormals) {
  EXPECT_EQ(exp(0.0f), 1.0f);
  EXPECT_EQ(exp(-0.0f), 1.0f);
  EXPECT_EQ(exp(kSmallest), 1.0f);
  EXPECT_EQ(exp(kInf), kInf);
  EXPECT_TRUE(same_bits(exp(-kInf), 0.0f));
  EXPECT_EQ(exp(88.8f), kInf);
  EXPECT_EQ(exp(kHuge), kInf);
  EXPECT_TRUE(std::isfinite(exp(88.72f)));
  EXPECT_EQ(exp(-103.9f), kSmallest);
  EXPECT_EQ(exp(-104.0f), 0.0f);
  EXPECT_EQ(exp(-kHuge), 0.0f);
}

TEST(Elementary, TanhIsOddAndSaturates) {
  EXPECT_TRUE(same_bits(tanh(0.0f), 0.0f));
  EXPECT_TRUE(same_bits(tanh(-0.0f), -0.0f));
  EXPECT_EQ(tanh(kSmallest), kSmallest);
  EXPECT_EQ(tanh(kInf), 1.0f);
  EXPECT_EQ(tanh(-kInf), -1.0f);
  EXPECT_EQ(tanh(10.0f), 1.0f);
  for (const float x : {0.1f, 0.6249f, 0.625f, 3.0f, 8.9f}) {
    EXPECT_EQ(tanh(-x), -tanh(x)) << x;
  }
}

TEST(Elementary, SigmoidAndSoftplusReachTheirLimits) {
  EXPECT_EQ(sigmoid(0.0f), 0.5f);
  EXPECT_EQ(sigmoid(kInf), 1.0f);
  EXPECT_EQ(sigmoid(-kInf), 0.0f);
  EXPECT_GT(sigmoid(-100.0f), 0.0f);
  EXPECT_EQ(softplus(kInf), kInf);
  EXPECT_EQ(softplus(-kInf), 0.0f);
  EXPECT_EQ(softplus(1000.0f), 1000.0f);
  EXPECT_GT(softplus(-100.0f), 0.0f);
}

TEST(Elementary, LogKnowsZeroNegativesAndInfinity) {
  EXPECT_TRUE(same_bits(log(1.0f), 0.0f));
  EXPECT_EQ(log(0.0f), -kInf);
  EXPECT_EQ(log(-0.0f), -kInf);
  EXPECT_EQ(log(kInf), kInf);
  EXPECT_TRUE(std::isnan(log(-1.0f)));
  EXPECT_TRUE(std::isnan(log(-kInf)));
  EXPECT_EQ(log1p(-1.0f), -kInf);
  EXPECT_EQ(log1p(kInf), kInf);
  EXPECT_TRUE(std::isnan(log1p(-1.5f)));
  EXPECT_EQ(log1p(kSmallest), kSmallest);
}

class ElementaryArrayTest : public testing::PerTable {};
DAYBREAK_PER_TABLE(ElementaryArrayTest);

// Every 997th of all 2^32 bit patterns, so NaN, infinities and subnormals are among them; the odd
// count leaves a partial vector.
TEST_P(ElementaryArrayTest, ArrayFormsEqualTheScalarFunctionsOnAllKindsOfFloats) {
  std::vector<float> xs;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 997 * 4) {
    xs.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  xs.insert(xs.end(), {kInf, -kInf, kNotANumber, 0.0f, -0.0f, kSmallest, -kSmallest});
  const std::pair<void (*)(float*, std::size_t), float (*)(float)> pairs[] = {
      {table().exp_inplace, exp},   {table().sigmoid_inplace, sigmoid},
      {table().tanh_inplace, tanh}, {table().log_inplace, log},
      {table().silu_inplace, silu}, {table().softplus_inplace, softplus},
  };
  for (const auto& [array, one] : pairs) {
    std::vector<float> got = xs;
    array(got.data(), got.size());
    std::vector<float> expected(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i) {
      expected[i] = one(xs[i]);
    }
    EXPECT_TRUE(same_bits(got, expected));
  }
}

}  // namespace
}  // namespace daybreak::kernels
