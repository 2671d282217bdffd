// SPDX-License-Identifier: Apache-2.0
#pragma once

// The latent mixture of experts with its shared branch (spec section 6). Tokens are grouped by
// expert, so that each expert's weights are read once per step; their contributions are then
// combined per token in ascending expert order (numerics rule 7).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "model/config.h"
#include "model/layer_linear.h"
#include "model/lora_step.h"
#include "model/mlp_layer.h"
#include "model/moe_router.h"
#include "model/weights.h"

namespace daybreak::model {

// Activations of up to `tokens` tokens. A slot is one (token, expert) pair; slots are ordered by
// expert, then token. In = latent width, or hidden without a latent.
struct MoeScratch {
  MoeScratch(const MoeConfig& config, std::size_t hidden, std::size_t tokens);

  AlignedBuffer<float> router;      // [tokens, experts]
  AlignedBuffer<float> latent;      // [tokens, In], empty without a latent
  AlignedBuffer<float> slot_in;     // [slots, In]
  AlignedBuffer<float> slot_gate;   // [slots, intermediate]
  AlignedBuffer<float> slot_up;     // [slots, intermediate]
  AlignedBuffer<float> slot_out;    // [slots, In]
  AlignedBuffer<float> combined;    // [tokens, In], empty without a latent
  MlpScratch shared;                // the shared branch
  AlignedBuffer<float> shared_out;  // [tokens, hidden], empty without shared experts
  RouterScratch route;
  std::vector<Choice> choices;          // [tokens, experts_per_token]
  std::vector<std::size_t> slot;        // of each choice
  std::vector<std::size_t> first_slot;  // [experts + 1]
  std::vector<std::size_t> next_slot;   // [experts]
  std::vector<LinearJob> jobs;
  std::uint64_t experts_read = 0;  // counts each expert in use once per call
};

struct MoeLayer {
  const MoeWeights& weights;
  const MoeConfig& config;
  GatedActivation activation;
  std::size_t hidden = 0;
  float norm_eps = 0;
  LoraLayer lora = {};  // of the shared branch
};

// y = experts(x) + shared(x).  x, y: [tokens, hidden], not overlapping
void run_moe(const MoeLayer& layer, std::size_t tokens, const float* x, float* y,
             MoeScratch& scratch, ThreadTeam& team);

}  // namespace daybreak::model
