// SPDX-License-Identifier: Apache-2.0
#include "model/moe_layer.h"

#include <algorithm>
#include <span>

#include "kernels/elementwise.h"
#include "kernels/norm.h"

namespace daybreak::model {
namespace {

std::size_t expert_width(const MoeConfig& config, std::size_t hidden) {
  return config.latent_size.value_or(hidden);
}

// Everything that reads the layer input: router, latent and the shared branch's first half.
void project_inputs(const MoeLayer& layer, std::size_t tokens, const float* x, MoeScratch& scratch,
                    ThreadTeam& team) {
  const MoeWeights& w = layer.weights;
  scratch.jobs.clear();
  const auto add = [&](const MatrixView& matrix, AlignedBuffer<float>& y,
                       std::optional<LoraModule> module = {}) {
    scratch.jobs.push_back({matrix, x, layer.hidden, y.data(), matrix.rows, tokens, module});
  };
  add(w.router, scratch.router);
  if (w.latent_down) {
    add(*w.latent_down, scratch.latent);
  }
  if (w.shared) {
    add(w.shared->gate, scratch.shared.gate, LoraModule::kGate);
    add(w.shared->up, scratch.shared.up, LoraModule::kUp);
  }
  run_linears(team, scratch.jobs, layer.lora);
}

// Chooses experts for every token and numbers the slots by expert, then token.
void assign_slots(const MoeLayer& layer, std::size_t tokens, MoeScratch& scratch) {
  const std::size_t k = layer.config.experts_per_token;
  const std::size_t experts = layer.config.experts;
  const std::span choices = std::span(scratch.choices).first(tokens * k);
  std::ranges::fill(scratch.first_slot, std::size_t{0});
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::span of_token = choices.subspan(t * k, k);
    route(layer.config, scratch.router.span().subspan(t * experts, experts), layer.weights.bias,
          scratch.route, of_token);
    for (const Choice& choice : of_token) {
      ++scratch.first_slot[choice.expert + 1];
    }
  }
  for (std::size_t e = 0; e < experts; ++e) {
    scratch.first_slot[e + 1] += scratch.first_slot[e];
    scratch.next_slot[e] = scratch.first_slot[e];
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    scratch.slot[i] = scratch.next_slot[choices[i].expert]++;
  }
}

void gather(const MoeLayer& layer, std::size_t tokens, const float* in, MoeScratch& scratch) {
  const std::size_t k = layer.config.experts_per_token;
  const std::size_t width = expert_width(layer.config, layer.hidden);
  for (std::size_t i = 0; i < tokens * k; ++i) {
    std::copy_n(in + i / k * width, width, scratch.slot_in.data() + scratch.slot[i] * width);
  }
}

// Adds a product for the slots of every expert that has any. `matrix` picks it from the weights.
template <class Pick>
void add_expert_jobs(const MoeLayer& layer, MoeScratch& scratch, const AlignedBuffer<float>& x,
                     AlignedBuffer<float>& y, Pick matrix) {
  for (std::size_t e = 0; e < layer.config.experts; ++e) {
    const std::size_t first = scratch.first_slot[e];
    const std::size_t count = scratch.first_slot[e + 1] - first;
    if (count > 0) {
      const MatrixView& w = matrix(layer.weights.experts[e]);
      scratch.jobs.push_back(
          {w, x.data() + first * w.cols, w.cols, y.data() + first * w.rows, w.rows, count});
    }
  }
}

void run_experts(const MoeLayer& layer, std::size_t tokens, MoeScratch& scratch, ThreadTeam& team) {
  const MoeWeights& w = layer.weights;
  const std::size_t slots = tokens * layer.config.experts_per_token;
  scratch.jobs.clear();
  add_expert_jobs(layer, scratch, scratch.slot_in, scratch.slot_gate,
                  [](const MlpWeights& e) -> const MatrixView& { return e.gate; });
  scratch.experts_read += scratch.jobs.size();
  add_expert_jobs(layer, scratch, scratch.slot_in, scratch.slot_up,
                  [](const MlpWeights& e) -> const MatrixView& { return e.up; });
  run_linears(team, scratch.jobs);

  activate(layer.activation, scratch.slot_gate.data(), scratch.slot_up.data(),
           slots * layer.config.intermediate_size, team);
  scratch.jobs.clear();
  add_expert_jobs(layer, scratch, scratch.slot_gate, scratch.slot_out,
                  [](const MlpWeights& e) -> const MatrixView& { return e.down; });
  if (w.shared) {
    const std::size_t width = layer.config.shared_width();
    activate(layer.activation, scratch.shared.gate.data(), scratch.shared.up.data(), tokens * width,
             team);
    scratch.jobs.push_back({w.shared->down, scratch.shared.gate.data(), width,
                            scratch.shared_out.data(), layer.hidden, tokens, LoraModule::kDown});
  }
  run_linears(team, scratch.jobs, layer.lora);
}

// out[t] = sum of the token's contributions, ascending expert id.
void combine(const MoeLayer& layer, std::size_t tokens, float* out, MoeScratch& scratch,
             ThreadTeam& team) {
  const std::size_t k = layer.config.experts_per_token;
  const std::size_t width = expert_width(layer.config, layer.hidden);
  team.for_ranges(tokens, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      float* sum = out + t * width;
      std::fill_n(sum, width, 0.0f);
      for (std::size_t i = t * k; i < (t + 1) * k; ++i) {
        kernels::scaled_add(sum, scratch.choices[i].weight,
                            scratch.slot_out.data() + scratch.slot[i] * width, width);
      }
      if (!layer.weights.latent_norm.empty()) {
        kernels::rms_norm(sum, layer.weights.latent_norm.data(), layer.norm_eps, width, sum);
      }
    }
  });
}

}  // namespace

MoeScratch::MoeScratch(const MoeConfig& config, std::size_t hidden, std::size_t tokens)
    : router(tokens * config.experts),
      latent(config.latent_size ? tokens * *config.latent_size : 0),
      slot_in(tokens * config.experts_per_token * expert_width(config, hidden)),
      slot_gate(tokens * config.experts_per_token * config.intermediate_size),
      slot_up(tokens * config.experts_per_token * config.intermediate_size),
      slot_out(tokens * config.experts_per_token * expert_width(config, hidden)),
      combined(config.latent_size ? tokens * *config.latent_size : 0),
      shared(config.shared_width(), tokens),
      shared_out(config.shared_experts > 0 ? tokens * hidden : 0),
      route(config),
      choices(tokens * config.experts_per_token),
      slot(tokens * config.experts_per_token),
      first_slot(config.experts + 1),
      next_slot(config.experts) {
  // Two products per expert in use, or the four that read the input.
  jobs.reserve(2 * std::min(config.experts, tokens * config.experts_per_token) + 4);
}

void run_moe(const MoeLayer& layer, std::size_t tokens, const float* x, float* y,
             MoeScratch& scratch, ThreadTeam& team) {
  const MoeWeights& w = layer.weights;
  project_inputs(layer, tokens, x, scratch, team);
  assign_slots(layer, tokens, scratch);
  gather(layer, tokens, w.latent_down ? scratch.latent.data() : x, scratch);
  run_experts(layer, tokens, scratch, team);
  if (w.latent_up) {
    combine(layer, tokens, scratch.combined.data(), scratch, team);
    scratch.jobs.clear();
    scratch.jobs.push_back(
        {*w.latent_up, scratch.combined.data(), w.latent_up->cols, y, layer.hidden, tokens});
    run_linears(team, scratch.jobs);
  } else {
    combine(layer, tokens, y, scratch, team);
  }
  if (w.shared) {
    kernels::add_inplace(y, scratch.shared_out.data(), tokens * layer.hidden);
  }
}

}  // namespace daybreak::model
