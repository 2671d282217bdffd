// SPDX-License-Identifier: Apache-2.0
#pragma once

// The dense gated MLP (spec section 6): down(act(gate x, up x)), with act SiTU or SiLU.

#include <cstddef>
#include <optional>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "model/config.h"
#include "model/lora_step.h"
#include "model/weights.h"

namespace daybreak::model {

// The activation between the gate and up branches, with its caps.
struct GatedActivation {
  Activation kind = Activation::kSilu;
  float situ_beta = 1.0f;
  std::optional<float> situ_linear_beta;

  static GatedActivation from(const ModelConfig& config) {
    return {config.activation, config.situ_beta, config.situ_linear_beta};
  }
};

// gate[i] = act(gate[i], up[i]), split over the threads.  gate, up: [n]
void activate(const GatedActivation& activation, float* gate, const float* up, std::size_t n,
              ThreadTeam& team);

// Activations of up to `tokens` tokens through an MLP `width` wide.
struct MlpScratch {
  MlpScratch(std::size_t width, std::size_t tokens) : gate(tokens * width), up(tokens * width) {}

  AlignedBuffer<float> gate;  // [tokens, width], then the activated product
  AlignedBuffer<float> up;    // [tokens, width]
};

// y = mlp(x).  x, y: [tokens, weights.gate.cols], not overlapping
void run_mlp(const MlpWeights& weights, const GatedActivation& activation, std::size_t tokens,
             const float* x, float* y, MlpScratch& scratch, ThreadTeam& team,
             const LoraLayer& lora);

}  // namespace daybreak::model
