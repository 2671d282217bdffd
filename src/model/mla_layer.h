// SPDX-License-Identifier: Apache-2.0
#pragma once

// The token mixer of a gated MLA layer (spec section 4) in absorbed form, for prefill and decode
// alike (numerics rule 5): the query is carried into the latent space, attention runs over the
// cached latents, and the result is carried out of it. Nothing is rotated.

#include <cstddef>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "model/config.h"
#include "model/forward_step.h"
#include "model/lora_step.h"
#include "model/weights.h"

namespace daybreak::model {

// Queries that share one pass over a tile's latents.
inline constexpr std::size_t kQueriesPerTile = 8;

// Activations of up to `tokens` tokens. L = kv_lora_rank, W = L + qk_rope_head_dim,
// B = kQueriesPerTile.
struct MlaScratch {
  MlaScratch(const MlaConfig& config, std::size_t tokens);

  AlignedBuffer<float> q_low;     // [tokens, q_lora_rank], empty without
  AlignedBuffer<float> q;         // [tokens, heads * qk_head_dim]
  AlignedBuffer<float> latent;    // [tokens, W]
  AlignedBuffer<float> absorbed;  // [tokens, heads, W]
  AlignedBuffer<float> context;   // [tokens, heads, L]
  AlignedBuffer<float> gate;      // [tokens, heads * v], empty without
  AlignedBuffer<float> out;       // [tokens, heads * v]
  // Of each thread's batch of queries, in the places of its first head and those after:
  AlignedBuffer<float> tile_max;    // [heads, B] running softmax of the current super-tile ...
  AlignedBuffer<float> tile_sum;    // [heads, B]
  AlignedBuffer<float> tile_value;  // [heads, B, L]
  AlignedBuffer<float> full_max;    // [heads, B] ... and of all super-tiles before it
  AlignedBuffer<float> full_sum;    // [heads, B]
  AlignedBuffer<float> full_value;  // [heads, B, L]
};

struct MlaLayer {
  const MlaWeights& weights;
  const MlaConfig& config;
  std::size_t hidden = 0;
  float low_rank_norm_eps = kLowRankNormEps;
  std::size_t index = 0;  // among the MLA layers of the state
  LoraLayer lora = {};
};

// y = attention(x), appending the latents of the step's tokens to their states. Heads are split
// over the threads.  x, y: [step.tokens, hidden], not overlapping
//   REQUIRES: every segment's state has reserved position + tokens.
void run_mla(const MlaLayer& layer, const Step& step, const float* x, float* y, MlaScratch& scratch,
             ThreadTeam& team);

}  // namespace daybreak::model
