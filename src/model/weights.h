// SPDX-License-Identifier: Apache-2.0
#pragma once

// The weights of a model, bound for computing. Matrices are views, in their stored format, into the
// mapped checkpoint; vectors, which are small, are converted to f32 once. Everything here is const
// after loading, so that many engines can share it.
//
// Matrices are [out, in] row-major, the product is y = W x, and there are no biases.

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/weight_format.h"

namespace daybreak::model {

using kernels::MatrixView;

// The output gate of a KDA layer: g_proj, or g_b_proj(g_a_proj(x)) with the rank of one head.
struct FullRankGate {
  MatrixView g;  // [heads * head_dim, hidden]
};
struct LowRankGate {
  MatrixView a;  // [head_dim, hidden]
  MatrixView b;  // [heads * head_dim, head_dim]
};

// P = heads * head_dim.
struct KdaWeights {
  MatrixView q, k, v;   // [P, hidden]
  MatrixView f_a, f_b;  // [head_dim, hidden], [P, head_dim]
  MatrixView beta;      // [heads, hidden]
  std::variant<FullRankGate, LowRankGate> gate;
  MatrixView o;                               // [hidden, P]
  std::vector<float> q_conv, k_conv, v_conv;  // [P, taps], the last tap meets the current token
  std::vector<float> a_log;                   // [heads]
  std::vector<float> dt_bias;                 // [P]
  std::vector<float> o_norm;                  // [head_dim], shared by the heads
};

// The query path of an MLA layer through its low-rank bottleneck.
struct LowRankQuery {
  MatrixView a;             // [q_lora_rank, hidden]
  std::vector<float> norm;  // [q_lora_rank]
};

struct MlaWeights {
  std::optional<LowRankQuery> q_low_rank;  // unset: q reads the layer input
  MatrixView q;                            // [heads * (nope + rope), q_lora_rank or hidden]
  MatrixView kv_a;                         // [kv_lora_rank + rope, hidden]
  std::vector<float> kv_norm;              // [kv_lora_rank]
  // W_UK of every head, transposed at load so that absorbing it into the query is an ordinary
  // product over contiguous rows: [heads * kv_lora_rank, nope], in the stored format.
  MatrixView k_up_transposed;
  AlignedBuffer<std::byte> k_up_bytes;  // what k_up_transposed points into
  // kv_b_proj as stored: of head h, rows [h * (nope + v) + nope, (h + 1) * (nope + v)) are W_UV.
  MatrixView kv_b;                 // [heads * (nope + v), kv_lora_rank]
  std::optional<MatrixView> gate;  // [heads * v, hidden]
  MatrixView o;                    // [hidden, heads * v]
};

// Fills k_up_transposed from kv_b, whose rows are heads * (nope + v); does nothing
// without kv_b.
void transpose_k_up(MlaWeights& weights, std::size_t heads, std::size_t nope, std::size_t v);

// A gated MLP: down(activation(gate x, up x)).
struct MlpWeights {
  MatrixView gate, up;  // [width, in]
  MatrixView down;      // [in, width]
};

// `in` of the experts is the latent width if there is a latent, else hidden.
struct MoeWeights {
  MatrixView router;                      // [experts, hidden]
  std::vector<float> bias;                // [experts], selection only
  std::optional<MatrixView> latent_down;  // [latent, hidden]
  std::optional<MatrixView> latent_up;    // [hidden, latent]; set with latent_down
  std::vector<float> latent_norm;         // [latent], empty: no norm
  std::vector<MlpWeights> experts;
  std::optional<MlpWeights> shared;  // the merged shared experts
};

// One mixing site of Attention Residuals: norm.weight * proj.weight, element by element.
// Empty in a model with ordinary residuals.
using AttnResSite = std::vector<float>;  // [hidden]

struct LayerWeights {
  std::vector<float> input_norm, post_attention_norm;  // [hidden]
  AttnResSite attention_site, mlp_site;
  std::variant<KdaWeights, MlaWeights> attention;
  std::variant<MlpWeights, MoeWeights> feed_forward;
};

struct ModelWeights {
  MatrixView embedding;  // [vocab, hidden]
  MatrixView lm_head;    // [vocab, hidden]; the embedding itself when tied
  std::vector<float> final_norm;
  AttnResSite output_site;
  std::vector<LayerWeights> layers;
};

}  // namespace daybreak::model
