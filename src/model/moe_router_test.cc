// SPDX-License-Identifier: Apache-2.0
#include "model/moe_router.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/elementary.h"

namespace daybreak::model {
namespace {

MoeConfig config_of(std::size_t experts, std::size_t per_token) {
  MoeConfig config;
  config.experts = experts;
  config.experts_per_token = per_token;
  return config;
}

std::vector<Choice> run(const MoeConfig& config, std::vector<float> logits,
                        std::vector<float> bias = {}) {
  bias.resize(config.experts);
  RouterScratch scratch(config);
  std::vector<Choice> choices(config.experts_per_token);
  route(config, logits, bias, scratch, choices);
  return choices;
}

std::vector<std::uint32_t> experts_of(const std::vector<Choice>& choices) {
  std::vector<std::uint32_t> experts;
  for (const Choice& choice : choices) {
    experts.push_back(choice.expert);
  }
  return experts;
}

using Experts = std::vector<std::uint32_t>;

TEST(Router, ChoicesComeInAscendingExpertOrder) {
  EXPECT_EQ(experts_of(run(config_of(5, 3), {1, 5, 2, 0, 4})), (Experts{1, 2, 4}));
}

TEST(Router, TiesGoToTheLowestIndex) {
  EXPECT_EQ(experts_of(run(config_of(6, 3), {0, 1, 1, 1, 1, 0})), (Experts{1, 2, 3}));
  EXPECT_EQ(experts_of(run(config_of(4, 2), {0, 0, 0, 0})), (Experts{0, 1}));
}

TEST(Router, BiasSelectsButDoesNotWeigh) {
  MoeConfig config = config_of(3, 1);
  config.renormalize = false;
  const std::vector<Choice> choices = run(config, {0, 2, 0}, {5, 0, 0});
  EXPECT_EQ(choices[0].expert, 0u);
  EXPECT_EQ(choices[0].weight, 0.5f);  // sigmoid(0), not 5.5
}

TEST(Router, RenormalisesOnlyForMoreThanOneExpert) {
  MoeConfig config = config_of(2, 1);
  EXPECT_EQ(run(config, {0, -9})[0].weight, 0.5f);
  config.experts_per_token = 2;
  const std::vector<Choice> two = run(config, {0, 0});
  EXPECT_EQ(two[0].weight, 0.5f);
  EXPECT_EQ(two[1].weight, 0.5f);
  config.renormalize = false;
  EXPECT_EQ(run(config, {0, 0})[1].weight, 0.5f);
}

// Rule 7: the divisor is a chain over ascending expert ids, not over the order of selection.
TEST(Router, RenormalisesByASumInAscendingExpertOrder) {
  const MoeConfig config = config_of(3, 3);
  const auto divisor_of = [](float a, float b, float c) { return a + b + c + 1e-20f; };
  bool order_mattered = false;
  for (int i = 1; i < 200; ++i) {
    const std::vector<float> logits = {-0.013f * static_cast<float>(i), 1.7f,
                                       0.011f * static_cast<float>(i)};
    std::vector<float> s;
    for (const float logit : logits) {
      s.push_back(kernels::sigmoid(logit));
    }
    const std::vector<Choice> choices = run(config, logits);
    const float ascending = divisor_of(s[0], s[1], s[2]);
    for (std::size_t e = 0; e < 3; ++e) {
      ASSERT_EQ(choices[e].weight, s[e] / ascending) << i;
    }
    order_mattered |= ascending != divisor_of(s[1], s[2], s[0]);
  }
  EXPECT_TRUE(order_mattered);
}

TEST(Router, ScalesAfterRenormalising) {
  MoeConfig config = config_of(2, 2);
  config.routed_scaling_factor = 3.0f;
  EXPECT_EQ(run(config, {0, 0})[0].weight, 1.5f);
}

TEST(Router, SoftmaxWeighsAgainstAllExperts) {
  MoeConfig config = config_of(4, 1);
  config.router = RouterActivation::kSoftmax;
  const std::vector<Choice> choices = run(config, {0, 0, 0, std::log(5.0f)});
  EXPECT_EQ(choices[0].expert, 3u);
  EXPECT_NEAR(choices[0].weight, 5.0f / 8.0f, 1e-6f);
}

TEST(Router, GroupsAreRankedByTheirTwoBest) {
  MoeConfig config = config_of(6, 2);
  config.groups = 3;
  config.topk_groups = 1;
  // Group 1 holds the single best expert, group 2 the best pair.
  EXPECT_EQ(experts_of(run(config, {0, 0, 9, -9, 2, 2})), (Experts{4, 5}));
  config.topk_groups = 2;  // groups 2 and 1 (sums 1.76 and 1.0001 against 1.0)
  EXPECT_EQ(experts_of(run(config, {0, 0, 9, -8, 2, 1})), (Experts{2, 4}));
}

TEST(Router, TiedGroupsGoToTheLowestIndex) {
  MoeConfig config = config_of(6, 2);
  config.groups = 3;
  config.topk_groups = 1;
  EXPECT_EQ(experts_of(run(config, {0, 0, 0, 0, 0, 0})), (Experts{0, 1}));
}

TEST(Router, GroupsOfOneExpertAreRankedByIt) {
  MoeConfig config = config_of(3, 1);
  config.groups = 3;
  config.topk_groups = 1;
  EXPECT_EQ(experts_of(run(config, {0, 4, 1})), (Experts{1}));
}

TEST(Router, NotANumberStillGivesDistinctExperts) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(experts_of(run(config_of(3, 3), {nan, nan, nan})), (Experts{0, 1, 2}));
  const std::vector<Choice> choices = run(config_of(4, 2), {nan, 1, 2, 3});
  EXPECT_EQ(choices[0].expert, 0u);
  EXPECT_TRUE(std::isnan(choices[0].weight)) << "and is not hidden";
}

}  // namespace
}  // namespace daybreak::model
