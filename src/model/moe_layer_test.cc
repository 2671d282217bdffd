// SPDX-License-Identifier: Apache-2.0
#include "model/moe_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <random>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"

namespace daybreak::model {
namespace {

// A layer without latent and shared branch, in f32, with random weights.
class SmallMoe {
 public:
  static constexpr std::size_t kHidden = 24;
  static constexpr std::size_t kInter = 40;

  SmallMoe() {
    config_.experts = 6;
    config_.experts_per_token = 4;
    config_.intermediate_size = kInter;
    weights_.router = matrix(config_.experts, kHidden);
    weights_.bias.assign(config_.experts, 0.0f);
    for (std::size_t e = 0; e < config_.experts; ++e) {
      weights_.experts.push_back({.gate = matrix(kInter, kHidden),
                                  .up = matrix(kInter, kHidden),
                                  .down = matrix(kHidden, kInter)});
    }
  }

  [[nodiscard]] MoeLayer layer() const {
    return {.weights = weights_,
            .config = config_,
            .activation = {.kind = Activation::kSilu, .situ_linear_beta = {}},
            .hidden = kHidden,
            .norm_eps = 1e-5f};
  }

  // One token through one expert, product by product.
  [[nodiscard]] std::vector<float> expert(std::size_t index, const float* x) const {
    const MlpWeights& w = weights_.experts[index];
    std::vector<float> gate(kInter);
    std::vector<float> up(kInter);
    std::vector<float> out(kHidden);
    kernels::matmul(w.gate, 0, kInter, x, kHidden, 1, gate.data(), kInter);
    kernels::matmul(w.up, 0, kInter, x, kHidden, 1, up.data(), kInter);
    kernels::silu_mul(gate.data(), up.data(), gate.data(), kInter);
    kernels::matmul(w.down, 0, kHidden, gate.data(), kInter, 1, out.data(), kHidden);
    return out;
  }

  [[nodiscard]] std::vector<Choice> choices(const float* x) const {
    std::vector<float> logits(config_.experts);
    kernels::matmul(weights_.router, 0, config_.experts, x, kHidden, 1, logits.data(),
                    config_.experts);
    RouterScratch scratch(config_);
    std::vector<Choice> chosen(config_.experts_per_token);
    route(config_, logits, weights_.bias, scratch, chosen);
    return chosen;
  }

  std::vector<float> values(std::size_t n) {
    std::normal_distribution<float> normal;
    std::vector<float> random(n);
    for (float& value : random) {
      value = normal(rng_);
    }
    return random;
  }

 private:
  MatrixView matrix(std::size_t rows, std::size_t cols) {
    storage_.push_back(values(rows * cols));
    return {.format = kernels::WeightFormat::kF32,
            .data = reinterpret_cast<const std::byte*>(storage_.back().data()),
            .scales = nullptr,
            .rows = rows,
            .cols = cols};
  }

  std::mt19937 rng_{7};
  std::deque<std::vector<float>> storage_;
  MoeConfig config_;
  MoeWeights weights_;
};

// Rule 7: whatever order experts are computed in, a token's sum is one chain in ascending id.
TEST(MoeLayer, CombinesContributionsInAscendingExpertOrder) {
  constexpr std::size_t kTokens = 9;
  SmallMoe moe;
  const std::vector<float> x = moe.values(kTokens * SmallMoe::kHidden);
  std::vector<float> y(x.size());
  MoeScratch scratch(moe.layer().config, SmallMoe::kHidden, kTokens);
  ThreadTeam team(2);
  run_moe(moe.layer(), kTokens, x.data(), y.data(), scratch, team);
  for (std::size_t t = 0; t < kTokens; ++t) {
    const float* token = x.data() + t * SmallMoe::kHidden;
    std::vector<float> expected(SmallMoe::kHidden);
    std::vector<float> descending(SmallMoe::kHidden);
    std::vector<Choice> chosen = moe.choices(token);
    for (const Choice& choice : chosen) {
      kernels::scaled_add(expected.data(), choice.weight, moe.expert(choice.expert, token).data(),
                          SmallMoe::kHidden);
    }
    std::ranges::reverse(chosen);
    for (const Choice& choice : chosen) {
      kernels::scaled_add(descending.data(), choice.weight, moe.expert(choice.expert, token).data(),
                          SmallMoe::kHidden);
    }
    const std::vector<float> got(
        y.begin() + static_cast<std::ptrdiff_t>(t * SmallMoe::kHidden),
        y.begin() + static_cast<std::ptrdiff_t>((t + 1) * SmallMoe::kHidden));
    EXPECT_EQ(got, expected) << "token " << t;
    EXPECT_NE(descending, expected) << "the test needs values whose sum depends on the order";
  }
}

TEST(MoeLayer, CountsEachExpertInUseOncePerCall) {
  SmallMoe moe;
  const std::vector<float> x = moe.values(3 * SmallMoe::kHidden);
  std::vector<float> y(x.size());
  MoeScratch scratch(moe.layer().config, SmallMoe::kHidden, 3);
  ThreadTeam team(1);
  run_moe(moe.layer(), 1, x.data(), y.data(), scratch, team);
  EXPECT_EQ(scratch.experts_read, 4u);
  run_moe(moe.layer(), 3, x.data(), y.data(), scratch, team);
  EXPECT_GE(scratch.experts_read, 4u + 4u);
  EXPECT_LE(scratch.experts_read, 4u + 6u);
}

}  // namespace
}  // namespace daybreak::model
