// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a forward pass costs at least: the weight bytes it reads and the multiply-adds it makes,
// counted from the bound weights, not from formulas about them. Benches divide by it.

#include <cstdint>

#include "model/config.h"
#include "model/weights.h"

namespace daybreak::model {

// A pass reads dense weights once per step of up to a workspace's capacity, the head once per step
// that gives logits, and an expert once per step in which any token uses it.
struct WeightTraffic {
  std::uint64_t dense_bytes = 0;  // all matrices but embedding, head and routed experts
  std::uint64_t head_bytes = 0;
  std::uint64_t expert_bytes = 0;  // of one routed expert, of the largest layer; 0 without
  std::uint64_t token_macs = 0;    // of one token through all layers, without the head
  std::uint64_t head_macs = 0;     // of one row of logits

  static WeightTraffic of(const ModelConfig& config, const ModelWeights& weights);
};

}  // namespace daybreak::model
