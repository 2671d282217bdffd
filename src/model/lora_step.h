// SPDX-License-Identifier: Apache-2.0
#pragma once

// LoRA in a step: which rows of the activations belong to sequences with an adapter, and how a
// linear layer adds what these add. One rule (docs/numerics.md, rule 13): t = A x by rule 1, d = B
// t by rule 1, y = fma(scale, d, y) on the finished y = W x, so that a row's bits depend on its own
// adapter only, and a row without one has those of a model without adapters.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "model/forward_step.h"
#include "model/layer_linear.h"
#include "model/lora_adapter.h"
#include "model/lora_config.h"

namespace daybreak::model {

// Of a workspace, for one step at a time.
class LoraStep {
 public:
  // For steps of up to `tokens` tokens.
  explicit LoraStep(std::size_t tokens)
      : tokens_(tokens), low_(kMaxModules * tokens * kMaxLoraRank) {}

  // Looks who has an adapter.
  void begin(std::span<const Segment> segments);
  [[nodiscard]] bool empty() const { return runs_.empty(); }

  // y = W x for all rows of all jobs, and what adapters add to those of `layer` that name a module.
  // REQUIRES: at most kMaxModules jobs name one; these have all tokens of the step.
  void run(ThreadTeam& team, std::span<const LinearJob> jobs, std::size_t layer);

  static constexpr std::size_t kMaxModules = 6;

 private:
  // Neighbouring rows of one adapter.
  struct Run {
    const LoraAdapter* adapter = nullptr;
    std::size_t first_token = 0;
    std::size_t tokens = 0;
  };

  std::size_t tokens_;
  std::vector<Run> runs_;
  std::vector<LinearJob> jobs_;  // W x and A x
  std::vector<LinearJob> adds_;  // B (A x)
  AlignedBuffer<float> low_;     // [kMaxModules, tokens, kMaxLoraRank]
};

// Where a layer finds what adapters add to it.
struct LoraLayer {
  LoraStep* step = nullptr;  // null: nothing
  std::size_t layer = 0;
};

// run_linears() with what adapters add.
void run_linears(ThreadTeam& team, std::span<const LinearJob> jobs, const LoraLayer& lora);

// The same rule on one thread, for products that are not computed by run_linears():
// y[t * y_stride + r] = fma(scale, dot(b[r], a x[t]), y[t * y_stride + r]) for all rows r of `b`.
//   REQUIRES: a.rows == b.cols <= kMaxLoraRank.
void add_low_rank(const MatrixView& a, const MatrixView& b, float scale, const float* x,
                  std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride);

}  // namespace daybreak::model
