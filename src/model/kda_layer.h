// SPDX-License-Identifier: Apache-2.0
#pragma once

// The token mixer of a KDA layer (spec section 3), in its recurrent form for prefill and decode
// alike (numerics rule 6).

#include <cstddef>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "model/config.h"
#include "model/forward_step.h"
#include "model/lora_step.h"
#include "model/weights.h"

namespace daybreak::model {

// The released code adds this to the sum of squares when it normalises q and k.
inline constexpr float kKdaL2Eps = 1e-6f;

// Activations of up to `tokens` tokens. P = heads * head_dim.
struct KdaScratch {
  KdaScratch(const KdaConfig& config, std::size_t tokens);

  AlignedBuffer<float> projected;  // [tokens, 3 * P] q, k, v before the convolution
  AlignedBuffer<float> convolved;  // [tokens, 3 * P]
  AlignedBuffer<float> decay_low;  // [tokens, head_dim]
  AlignedBuffer<float> decay;      // [tokens, P]
  AlignedBuffer<float> beta;       // [tokens, heads]
  AlignedBuffer<float> gate_low;   // [tokens, head_dim]
  AlignedBuffer<float> gate;       // [tokens, P]
  AlignedBuffer<float> out;        // [tokens, P]
};

struct KdaLayer {
  const KdaWeights& weights;
  const KdaConfig& config;
  std::size_t hidden = 0;
  float norm_eps = 0;
  std::size_t index = 0;  // among the KDA layers of the state
  LoraLayer lora = {};
};

// y = attention(x), updating the states of the step's segments. Heads are split over the threads.
//   x, y: [step.tokens, hidden], not overlapping
void run_kda(const KdaLayer& layer, const Step& step, const float* x, float* y, KdaScratch& scratch,
             ThreadTeam& team);

}  // namespace daybreak::model
