// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which experts a token goes to, and with what weight (spec section 6, numerics rule 7).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"

namespace daybreak::model {

// One expert chosen for a token.
struct Choice {
  std::uint32_t expert = 0;
  float weight = 0;
};

// Reused between tokens so that routing allocates nothing.
struct RouterScratch {
  explicit RouterScratch(const MoeConfig& config);

  std::vector<float> ranking;            // [experts] score + bias, what selection compares
  std::vector<float> group_score;        // [groups]
  std::vector<std::uint8_t> group_open;  // [groups] not chosen yet
  std::vector<std::uint8_t> eligible;    // [experts]
};

// Turns the router's logits of one token into `config.experts_per_token` choices in ascending
// expert order. Selection ranks score + bias, ties to the lowest index; weights are the scores
// without bias, renormalised by their sum in ascending expert order if configured, times the
// scaling factor.
//   logits: [experts], overwritten by the scores ; bias: [experts] ; choices: [experts_per_token]
void route(const MoeConfig& config, std::span<float> logits, std::span<const float> bias,
           RouterScratch& scratch, std::span<Choice> choices);

}  // namespace daybreak::model
