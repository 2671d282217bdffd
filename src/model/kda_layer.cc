// SPDX-License-Identifier: Apache-2.0
#include "model/kda_layer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/elementary.h"
#include "kernels/elementwise.h"
#include "kernels/kda.h"
#include "kernels/matmul.h"
#include "kernels/norm.h"
#include "model/layer_linear.h"

namespace daybreak::model {
namespace {

// The projections that read the layer input, in one barrier.
void project_inputs(const KdaLayer& layer, std::size_t tokens, const float* x, KdaScratch& scratch,
                    ThreadTeam& team) {
  const KdaWeights& w = layer.weights;
  const std::size_t width = layer.config.width();
  const std::size_t low = layer.config.head_dim;
  float* projected = scratch.projected.data();
  const auto job = [&](const MatrixView& matrix, LoraModule module, float* y,
                       std::size_t y_stride) {
    return LinearJob{matrix, x, layer.hidden, y, y_stride, tokens, module};
  };
  const LinearJob gate_job =
      std::holds_alternative<FullRankGate>(w.gate)
          ? job(std::get<FullRankGate>(w.gate).g, LoraModule::kG, scratch.gate.data(), width)
          : job(std::get<LowRankGate>(w.gate).a, LoraModule::kGA, scratch.gate_low.data(), low);
  const std::array jobs = {
      job(w.q, LoraModule::kQ, projected, 3 * width),
      job(w.k, LoraModule::kK, projected + width, 3 * width),
      job(w.v, LoraModule::kV, projected + 2 * width, 3 * width),
      job(w.f_a, LoraModule::kFA, scratch.decay_low.data(), low),
      job(w.beta, LoraModule::kBeta, scratch.beta.data(), layer.config.heads),
      gate_job,
  };
  run_linears(team, jobs, layer.lora);
}

// One head of one segment: its channels are [first, first + head_dim) of P.
class HeadRun {
 public:
  HeadRun(const KdaLayer& layer, const Segment& segment, std::size_t head, KdaScratch& scratch)
      : layer_(layer),
        segment_(segment),
        scratch_(scratch),
        head_(head),
        dim_(layer.config.head_dim),
        width_(layer.config.width()),
        first_(head * layer.config.head_dim),
        past_(layer.config.conv_kernel - 1) {}

  void run() {
    project_low_rank();
    segment_.state->replay_head(layer_.index, head_);
    for (std::size_t t = 0; t < segment_.tokens; ++t) {
      convolve(t);
    }
    const std::size_t kept = segment_.tokens - segment_.drafts;
    float* state = segment_.state->kda_state(layer_.index, head_);
    for (std::size_t t = 0; t < kept; ++t) {
      step(t, state, nullptr);
    }
    if (segment_.drafts > 0) {
      run_drafts(kept, state);
    }
    keep_tail(kept);
  }

 private:
  float* row(AlignedBuffer<float>& buffer, std::size_t t, std::size_t row_width) const {
    return buffer.data() + (segment_.first_token + t) * row_width;
  }

  // The head's rows of f_b_proj, and of g_b_proj if the gate is low-rank.
  void project_low_rank() {
    const KdaWeights& w = layer_.weights;
    kernels::matmul(w.f_b, first_, first_ + dim_, row(scratch_.decay_low, 0, dim_), dim_,
                    segment_.tokens, row(scratch_.decay, 0, width_), width_);
    add_lora(LoraModule::kFB, scratch_.decay_low, scratch_.decay);
    if (const auto* gate = std::get_if<LowRankGate>(&w.gate)) {
      kernels::matmul(gate->b, first_, first_ + dim_, row(scratch_.gate_low, 0, dim_), dim_,
                      segment_.tokens, row(scratch_.gate, 0, width_), width_);
      add_lora(LoraModule::kGB, scratch_.gate_low, scratch_.gate);
    }
  }

  // Adds what the segment's adapter adds to the head's rows of a low-rank projection. Each head
  // multiplies by A again, which costs no more than its rows of B.
  void add_lora(LoraModule module, AlignedBuffer<float>& low, AlignedBuffer<float>& y) const {
    if (segment_.adapter == nullptr) {
      return;
    }
    if (const LoraPair* pair = segment_.adapter->pair(layer_.lora.layer, module)) {
      add_low_rank(pair->a, row_slice(pair->b, first_, first_ + dim_), pair->scale,
                   row(low, 0, dim_), dim_, segment_.tokens, row(y, 0, width_) + first_, width_);
    }
  }

  // Returns projections [3 * P] of the token `back` tokens before token t; those of earlier steps
  // lie in the state's tail, where tap past_ - 1 is the newest.
  const float* input(std::size_t t, std::size_t back) const {
    if (back <= t) {
      return row(scratch_.projected, t - back, 3 * width_);
    }
    return segment_.state->conv_tail(layer_.index, past_ + t - back);
  }

  void convolve(std::size_t t) {
    const KdaWeights& w = layer_.weights;
    const std::array weights = {&w.q_conv, &w.k_conv, &w.v_conv};
    const std::size_t taps = past_ + 1;
    for (std::size_t part = 0; part < weights.size(); ++part) {
      const std::size_t channel = part * width_ + first_;
      std::array<const float*, kMaxConvKernel> inputs{};
      for (std::size_t j = 0; j < taps; ++j) {
        inputs[j] = input(t, past_ - j) + channel;
      }
      kernels::conv_silu(inputs.data(), taps, weights[part]->data() + first_ * taps, 0, dim_,
                         row(scratch_.convolved, t, 3 * width_) + channel);
    }
  }

  // Guesses leave the state alone, and leave behind what it takes to count them later.
  void run_drafts(std::size_t first, const float* state) {
    DraftReplay& drafts = *segment_.state->drafts();
    float* copy = std::copy_n(state, dim_ * dim_, drafts.copy_of(head_)) - dim_ * dim_;
    for (std::size_t t = first; t < segment_.tokens; ++t) {
      step(t, copy, drafts.written(layer_.index, head_, t - first));
      drafts.record(layer_.index, head_, t - first,
                    {.inputs = row(scratch_.projected, t, 3 * width_),
                     .k = row(scratch_.convolved, t, 3 * width_) + width_ + first_,
                     .decay = row(scratch_.decay, t, width_) + first_});
    }
  }

  void step(std::size_t t, float* state, float* written) {
    const KdaWeights& w = layer_.weights;
    const KdaConfig& c = layer_.config;
    float* q = row(scratch_.convolved, t, 3 * width_) + first_;
    float* k = q + width_;
    const float* v = k + width_;
    const float q_scale = 1.0f / std::sqrt(static_cast<float>(dim_));
    kernels::l2_normalize(q, dim_, kKdaL2Eps, q_scale, q);
    kernels::l2_normalize(k, dim_, kKdaL2Eps, 1.0f, k);

    float* decay = row(scratch_.decay, t, width_) + first_;
    kernels::kda_gate(decay, w.a_log[head_], w.dt_bias.data() + first_,
                      c.gate_lower_bound ? &*c.gate_lower_bound : nullptr, dim_, decay);
    const float beta = kernels::sigmoid(row(scratch_.beta, t, c.heads)[head_]);
    float* out = row(scratch_.out, t, width_) + first_;
    kernels::kda_step(state, {.q = q, .k = k, .decay = decay, .v = v, .beta = beta}, dim_, dim_,
                      out, written);
    kernels::rms_norm(out, w.o_norm.data(), layer_.norm_eps, dim_, out);
    kernels::sigmoid_mul(out, row(scratch_.gate, t, width_) + first_, dim_);
  }

  // Stores the last inputs of the head's channels up to those of the first `tokens` tokens, for the
  // next step. Ascending taps: with fewer tokens than taps this moves the tail down in place.
  void keep_tail(std::size_t tokens) {
    for (std::size_t tap = 0; tap < past_; ++tap) {
      const float* from = input(tokens - 1, past_ - 1 - tap);
      float* to = segment_.state->conv_tail(layer_.index, tap);
      for (std::size_t part = 0; part < 3; ++part) {
        const std::size_t channel = part * width_ + first_;
        std::copy_n(from + channel, dim_, to + channel);
      }
    }
  }

  const KdaLayer& layer_;
  const Segment& segment_;
  KdaScratch& scratch_;
  const std::size_t head_;
  const std::size_t dim_;
  const std::size_t width_;
  const std::size_t first_;
  const std::size_t past_;  // inputs before the current one that a convolution sees
};

}  // namespace

KdaScratch::KdaScratch(const KdaConfig& config, std::size_t tokens)
    : projected(tokens * 3 * config.width()),
      convolved(tokens * 3 * config.width()),
      decay_low(tokens * config.head_dim),
      decay(tokens * config.width()),
      beta(tokens * config.heads),
      gate_low(config.full_rank_gate ? 0 : tokens * config.head_dim),
      gate(tokens * config.width()),
      out(tokens * config.width()) {}

void run_kda(const KdaLayer& layer, const Step& step, const float* x, float* y, KdaScratch& scratch,
             ThreadTeam& team) {
  project_inputs(layer, step.tokens, x, scratch, team);
  // Segments differ in length, so each thread gets heads of all of them.
  const std::size_t segments = step.segments.size();
  team.for_ranges(segments * layer.config.heads, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      HeadRun(layer, step.segments[unit % segments], unit / segments, scratch).run();
    }
  });
  const std::size_t width = layer.config.width();
  const std::array jobs = {LinearJob{layer.weights.o, scratch.out.data(), width, y, layer.hidden,
                                     step.tokens, LoraModule::kO}};
  run_linears(team, jobs, layer.lora);
}

}  // namespace daybreak::model
