// SPDX-License-Identifier: Apache-2.0
#include "model/weights_traffic.h"

#include <algorithm>
#include <initializer_list>

namespace daybreak::model {
namespace {

std::uint64_t bytes_of(const MatrixView& w) {
  const std::uint64_t scales =
      w.scales != nullptr ? std::uint64_t{w.rows} * (w.cols / kernels::kMxGroup) : 0;
  return std::uint64_t{w.rows} * kernels::bytes_per_row(w.format, w.cols) + scales;
}

std::uint64_t macs_of(const MatrixView& w) { return std::uint64_t{w.rows} * w.cols; }

// Adds up matrices that every token passes through.
class Sum {
 public:
  void add(std::initializer_list<const MatrixView*> matrices) {
    for (const MatrixView* w : matrices) {
      bytes += bytes_of(*w);
      macs += macs_of(*w);
    }
  }

  std::uint64_t bytes = 0;
  std::uint64_t macs = 0;
};

void add_attention(const KdaWeights& w, Sum& sum) {
  sum.add({&w.q, &w.k, &w.v, &w.f_a, &w.f_b, &w.beta, &w.o});
  if (const auto* full = std::get_if<FullRankGate>(&w.gate)) {
    sum.add({&full->g});
  } else {
    const auto& low = std::get<LowRankGate>(w.gate);
    sum.add({&low.a, &low.b});
  }
}

void add_attention(const MlaWeights& w, Sum& sum) {
  // kv_b stands for its two halves: W_UK, read transposed, and W_UV.
  sum.add({&w.q, &w.kv_a, &w.kv_b, &w.o});
  if (w.q_low_rank) {
    sum.add({&w.q_low_rank->a});
  }
  if (w.gate) {
    sum.add({&*w.gate});
  }
}

void add_mlp(const MlpWeights& w, Sum& sum) { sum.add({&w.gate, &w.up, &w.down}); }

}  // namespace

WeightTraffic WeightTraffic::of(const ModelConfig& config, const ModelWeights& weights) {
  WeightTraffic traffic;
  Sum dense;
  for (const LayerWeights& layer : weights.layers) {
    std::visit([&](const auto& attention) { add_attention(attention, dense); }, layer.attention);
    if (const auto* mlp = std::get_if<MlpWeights>(&layer.feed_forward)) {
      add_mlp(*mlp, dense);
      continue;
    }
    const auto& moe = std::get<MoeWeights>(layer.feed_forward);
    dense.add({&moe.router});
    if (moe.latent_down) {
      dense.add({&*moe.latent_down, &*moe.latent_up});
    }
    if (moe.shared) {
      add_mlp(*moe.shared, dense);
    }
    Sum expert;
    add_mlp(moe.experts.front(), expert);
    traffic.expert_bytes = std::max(traffic.expert_bytes, expert.bytes);
    traffic.token_macs += expert.macs * config.moe->experts_per_token;
  }
  traffic.dense_bytes = dense.bytes;
  traffic.token_macs += dense.macs;
  traffic.head_bytes = bytes_of(weights.lm_head);
  traffic.head_macs = macs_of(weights.lm_head);
  return traffic;
}

}  // namespace daybreak::model
