// SPDX-License-Identifier: Apache-2.0
#include "model/mlp_layer.h"

#include <array>

#include "kernels/elementwise.h"
#include "model/layer_linear.h"

namespace daybreak::model {
namespace {

// Enough elements to be worth a thread's wake-up.
constexpr std::size_t kActivationGrain = 1024;

}  // namespace

void activate(const GatedActivation& activation, float* gate, const float* up, std::size_t n,
              ThreadTeam& team) {
  team.for_ranges(n, kActivationGrain, [&](std::size_t begin, std::size_t end) {
    float* out = gate + begin;
    if (activation.kind == Activation::kSilu) {
      kernels::silu_mul(out, up + begin, out, end - begin);
    } else {
      const auto& linear = activation.situ_linear_beta;
      kernels::situ_mul(out, up + begin, activation.situ_beta, linear ? &*linear : nullptr, out,
                        end - begin);
    }
  });
}

void run_mlp(const MlpWeights& weights, const GatedActivation& activation, std::size_t tokens,
             const float* x, float* y, MlpScratch& scratch, ThreadTeam& team,
             const LoraLayer& lora) {
  const std::size_t width = weights.gate.rows;
  const std::size_t in = weights.gate.cols;
  const std::array inputs = {
      LinearJob{weights.gate, x, in, scratch.gate.data(), width, tokens, LoraModule::kGate},
      LinearJob{weights.up, x, in, scratch.up.data(), width, tokens, LoraModule::kUp},
  };
  run_linears(team, inputs, lora);
  activate(activation, scratch.gate.data(), scratch.up.data(), tokens * width, team);
  const std::array outputs = {
      LinearJob{weights.down, scratch.gate.data(), width, y, in, tokens, LoraModule::kDown}};
  run_linears(team, outputs, lora);
}

}  // namespace daybreak::model
