// SPDX-License-Identifier: Apache-2.0
#include "model/moe_router.h"

#include <algorithm>
#include <limits>

#include "kernels/elementwise.h"
#include "kernels/norm.h"

namespace daybreak::model {
namespace {

constexpr float kRenormaliseEps = 1e-20f;

// Returns the index of the largest value among those with eligible[i], the lowest of equals, and
// clears its eligibility. Written so that a NaN is a candidate like any other: the result is always
// an eligible index, and the NaN shows up in the logits.  REQUIRES: one is eligible.
std::size_t take_largest(std::span<const float> values, std::span<std::uint8_t> eligible) {
  std::size_t best = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (eligible[i] != 0 && (best == values.size() || values[i] > values[best])) {
      best = i;
    }
  }
  eligible[best] = 0;
  return best;
}

// Returns the sum of the two largest values (of the only one, if there is one).
float two_largest(std::span<const float> values) {
  float first = -std::numeric_limits<float>::infinity();
  float second = first;
  for (const float value : values) {
    if (value > first) {
      second = first;
      first = value;
    } else if (value > second) {
      second = value;
    }
  }
  return values.size() > 1 ? first + second : first;
}

// Leaves only the experts of the best `topk_groups` groups eligible.
void keep_best_groups(const MoeConfig& config, RouterScratch& scratch) {
  const std::size_t size = config.experts / config.groups;
  for (std::size_t g = 0; g < config.groups; ++g) {
    scratch.group_score[g] = two_largest(std::span(scratch.ranking).subspan(g * size, size));
  }
  std::ranges::fill(scratch.eligible, std::uint8_t{0});
  std::vector<std::uint8_t>& open = scratch.group_open;
  std::ranges::fill(open, std::uint8_t{1});
  for (std::size_t i = 0; i < config.topk_groups; ++i) {
    const std::size_t g = take_largest(scratch.group_score, open);
    std::fill_n(scratch.eligible.begin() + static_cast<std::ptrdiff_t>(g * size), size,
                std::uint8_t{1});
  }
}

}  // namespace

RouterScratch::RouterScratch(const MoeConfig& config)
    : ranking(config.experts),
      group_score(config.groups),
      group_open(config.groups),
      eligible(config.experts) {}

void route(const MoeConfig& config, std::span<float> logits, std::span<const float> bias,
           RouterScratch& scratch, std::span<Choice> choices) {
  if (config.router == RouterActivation::kSoftmax) {
    kernels::softmax_inplace(logits.data(), logits.size());
  } else {
    kernels::sigmoid_inplace(logits.data(), logits.size());
  }
  const std::span<const float> scores = logits;
  for (std::size_t e = 0; e < scores.size(); ++e) {
    scratch.ranking[e] = scores[e] + bias[e];
  }
  std::ranges::fill(scratch.eligible, std::uint8_t{1});
  if (config.groups > config.topk_groups) {
    keep_best_groups(config, scratch);
  }
  for (Choice& choice : choices) {
    choice.expert = static_cast<std::uint32_t>(take_largest(scratch.ranking, scratch.eligible));
  }
  std::ranges::sort(choices, {}, &Choice::expert);

  float sum = 0;
  for (Choice& choice : choices) {
    choice.weight = scores[choice.expert];
    sum += choice.weight;
  }
  const bool renormalise = config.renormalize && config.experts_per_token > 1;
  const float divisor = renormalise ? sum + kRenormaliseEps : 1.0f;
  for (Choice& choice : choices) {
    choice.weight = choice.weight / divisor * config.routed_scaling_factor;
  }
}

}  // namespace daybreak::model
