// SPDX-License-Identifier: Apache-2.0
#include "kernels/kda.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/elementary.h"
#include "kernels/kernel_testing.h"

namespace daybreak::kernels {
namespace {

using testing::random_floats;
using testing::same_bits;

class KdaTest : public testing::PerTable {};
DAYBREAK_PER_TABLE(KdaTest);

struct Head {
  std::size_t dk;
  std::size_t dv;
  std::vector<float> state, q, k, decay, v, out;

  Head(std::size_t keys, std::size_t values, unsigned seed)
      : dk(keys),
        dv(values),
        state(random_floats(keys * values, seed)),
        q(random_floats(keys, seed + 1, 0.1f)),
        k(random_floats(keys, seed + 2, 0.1f)),
        decay(random_floats(keys, seed + 3)),
        v(random_floats(values, seed + 4)),
        out(values) {
    for (float& d : decay) {
      d = sigmoid(d);
    }
  }
  [[nodiscard]] KdaInputs inputs() const {
    return {.q = q.data(), .k = k.data(), .decay = decay.data(), .v = v.data(), .beta = 0.6f};
  }
  void step(const KernelTable& table) {
    table.kda_step(state.data(), inputs(), dk, dv, out.data(), nullptr);
  }
};

TEST_P(KdaTest, StepEqualsTheRecurrenceForEveryWidth) {
  for (const std::size_t dk : {1u, 5u, 16u, 128u}) {
    for (const std::size_t dv : {1u, 7u, 8u, 9u, 31u, 32u, 40u, 128u, 131u}) {
      SCOPED_TRACE(::testing::Message() << "dk " << dk << " dv " << dv);
      Head head(dk, dv, 1);
      std::vector<float> state = head.state;
      std::vector<float> out(dv, 0.0f);
      for (std::size_t c = 0; c < dv; ++c) {
        float u = 0.0f;
        for (std::size_t k = 0; k < dk; ++k) {
          state[k * dv + c] *= head.decay[k];
          u = std::fma(head.k[k], state[k * dv + c], u);
        }
        const float w = 0.6f * (head.v[c] - u);
        for (std::size_t k = 0; k < dk; ++k) {
          state[k * dv + c] = std::fma(head.k[k], w, state[k * dv + c]);
          out[c] = std::fma(head.q[k], state[k * dv + c], out[c]);
        }
      }
      head.step(table());
      ASSERT_TRUE(same_bits(head.state, state));
      ASSERT_TRUE(same_bits(head.out, out));
    }
  }
}

TEST_P(KdaTest, WritingWhatAStepHasWrittenGivesItsState) {
  for (const std::size_t dk : {1u, 5u, 16u, 128u}) {
    for (const std::size_t dv : {1u, 7u, 8u, 9u, 31u, 32u, 40u, 128u, 131u}) {
      SCOPED_TRACE(::testing::Message() << "dk " << dk << " dv " << dv);
      Head head(dk, dv, 7);
      head.state[0] = 0x1p-99f;  // is flushed, if it decays by half
      head.decay[0] = 0.25f;
      head.k[0] = 0.0f;
      std::vector<float> replayed = head.state;
      std::vector<float> w(dv);
      table().kda_step(head.state.data(), head.inputs(), dk, dv, head.out.data(), w.data());
      table().kda_write(replayed.data(), head.k.data(), head.decay.data(), w.data(), dk, dv);
      EXPECT_EQ(head.state[0], 0.0f);
      ASSERT_TRUE(same_bits(replayed, head.state));
    }
  }
}

// Hand-worked order: decay before read, write before output.
TEST_P(KdaTest, DecaysReadsWritesThenOutputs) {
  float state = 8.0f;
  const float q = 3.0f;
  const float k = 1.0f;
  const float decay = 0.5f;
  const float v = 10.0f;
  float out = 0.0f;
  table().kda_step(&state, {.q = &q, .k = &k, .decay = &decay, .v = &v, .beta = 0.5f}, 1, 1, &out,
                   nullptr);
  EXPECT_EQ(state, 7.0f);  // 4 read; 0.5 * (10 - 4) = 3 written
  EXPECT_EQ(out, 21.0f);
}

TEST_P(KdaTest, StateBelowTheBoundIsFlushedToPlusZeroAndTheBoundIsKept) {
  for (const std::size_t dv : {1u, 8u, 32u}) {
    const float below = std::nextafter(kStateFlushBelow, 0.0f);
    std::vector<float> state(3 * dv);
    for (std::size_t c = 0; c < dv; ++c) {
      state[c] = kStateFlushBelow;
      state[dv + c] = -below;
      state[2 * dv + c] = -kStateFlushBelow;
    }
    const std::vector<float> zeros(3, 0.0f);
    const std::vector<float> ones(3, 1.0f);
    const std::vector<float> v(dv, 0.0f);
    std::vector<float> out(dv);
    const KdaInputs in = {
        .q = zeros.data(), .k = zeros.data(), .decay = ones.data(), .v = v.data(), .beta = 1.0f};
    table().kda_step(state.data(), in, 3, dv, out.data(), nullptr);
    for (std::size_t c = 0; c < dv; ++c) {
      EXPECT_EQ(state[c], kStateFlushBelow);
      EXPECT_TRUE(same_bits(state[dv + c], 0.0f));
      EXPECT_EQ(state[2 * dv + c], -kStateFlushBelow);
    }
  }
}

// The fault this rule exists for: after hard decay every element is 0, none is subnormal.
TEST_P(KdaTest, HardDecayEndsInZerosNotInSubnormals) {
  Head head(128, 128, 9);
  std::fill(head.decay.begin(), head.decay.end(), exp(-5.0f));
  std::fill(head.v.begin(), head.v.end(), 0.0f);
  std::fill(head.k.begin(), head.k.end(), 0.0f);
  for (int i = 0; i < 30; ++i) {
    head.step(table());
    for (const float s : head.state) {
      ASSERT_TRUE(s == 0.0f || std::abs(s) >= kStateFlushBelow) << "step " << i;
    }
  }
  EXPECT_EQ(head.state, std::vector<float>(128 * 128, 0.0f));
}

TEST_P(KdaTest, NanInTheStateIsNotHiddenByTheFlush) {
  Head head(4, 8, 11);
  head.state[3] = std::numeric_limits<float>::quiet_NaN();
  head.step(table());
  EXPECT_TRUE(std::isnan(head.out[3]));
  EXPECT_FALSE(std::isnan(head.out[2]));
}

TEST_P(KdaTest, GateIsAScaledSigmoidWithABoundAndSoftplusWithout) {
  const std::vector<float> z = random_floats(131, 20, 2.0f);
  const std::vector<float> bias = random_floats(131, 21);
  const float bound = -5.0f;
  std::vector<float> decay(131);
  table().kda_gate(z.data(), 0.3f, bias.data(), &bound, 131, decay.data());
  const float a = exp(0.3f);
  for (std::size_t i = 0; i < z.size(); ++i) {
    ASSERT_TRUE(same_bits(decay[i], exp(-5.0f * sigmoid(a * (z[i] + bias[i]))))) << i;
    ASSERT_GE(decay[i], exp(-5.0f)) << i;
  }
  table().kda_gate(z.data(), 0.3f, bias.data(), nullptr, 131, decay.data());
  for (std::size_t i = 0; i < z.size(); ++i) {
    ASSERT_TRUE(same_bits(decay[i], exp(-a * softplus(z[i] + bias[i])))) << i;
  }
}

TEST_P(KdaTest, ConvUsesTheLastTapForTheCurrentTokenAndAnySplitOfChannels) {
  constexpr std::size_t kChannels = 37;
  for (const std::size_t taps_count : {1u, 2u, 4u, 5u}) {
    const std::vector<float> x = random_floats(taps_count * kChannels, 30);
    const std::vector<float> w = random_floats(taps_count * kChannels, 31);
    std::vector<const float*> taps;
    for (std::size_t j = 0; j < taps_count; ++j) {
      taps.push_back(x.data() + j * kChannels);
    }
    std::vector<float> expected(kChannels);
    for (std::size_t c = 0; c < kChannels; ++c) {
      float sum = 0.0f;
      for (std::size_t j = 0; j < taps_count; ++j) {
        sum = std::fma(w[c * taps_count + j], x[j * kChannels + c], sum);
      }
      expected[c] = silu(sum);
    }
    for (std::size_t step = 1; step <= kChannels; step += 3) {
      std::vector<float> out(kChannels);
      for (std::size_t c = 0; c < kChannels; c += step) {
        table().conv_silu(taps.data(), taps_count, w.data(), c, std::min(kChannels, c + step),
                          out.data());
      }
      ASSERT_TRUE(same_bits(out, expected)) << taps_count << " taps, split by " << step;
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
