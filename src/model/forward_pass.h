// SPDX-License-Identifier: Apache-2.0
#pragma once

// ForwardPass: one call of Model::forward. It checks the chunks, cuts them into steps that fit the
// workspace, and runs each step through embedding, layers and head.

#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/thread_team.h"
#include "model/forward_step.h"
#include "model/model.h"

namespace daybreak::model {

// Borrows everything it is given; lives for one call.
class ForwardPass {
 public:
  ForwardPass(const ModelConfig& config, const ModelWeights& weights, const StateLayout& layout,
              Workspace& workspace, ThreadTeam& team)
      : config_(config), weights_(weights), layout_(layout), ws_(workspace), team_(team) {}

  // See Model::forward.
  Status run(std::span<Chunk> chunks);

  // Runs the layers [begin, end) on what stream() and the saved blocks of the workspace hold.
  // Public for tests of single layers.
  void run_layers(const Step& step, std::size_t begin, std::size_t end);
  [[nodiscard]] ResidualStream& residual() { return ws_.residual_; }
  // Third-party fixtures use another eps in the low-rank norms than the released code.
  void set_low_rank_norm_eps(float eps) { low_rank_norm_eps_ = eps; }

 private:
  [[nodiscard]] Status check(std::span<const Chunk> chunks) const;
  [[nodiscard]] Status check_chunk(std::span<const Chunk> chunks, std::size_t index) const;
  [[nodiscard]] Status check_drafts(const Chunk& chunk, std::size_t index) const;
  [[nodiscard]] static Status reserve(std::span<const Chunk> chunks);
  // Fills the workspace's segments from ids [done, ...) of the chunks from `chunk` on, and moves
  // both past them. Returns the number of tokens.
  std::size_t cut_step(std::span<const Chunk> chunks, std::size_t& chunk, std::size_t& done);
  void embed(std::span<const Chunk> chunks);
  void run_layer(const Step& step, std::size_t index, std::size_t kda_index, std::size_t mla_index);
  void collect_targets(std::span<const Chunk> chunks);
  // Returns the error for the first row that is not finite.
  Status write_logits(std::span<Chunk> chunks);

  const ModelConfig& config_;
  const ModelWeights& weights_;
  const StateLayout& layout_;
  Workspace& ws_;
  ThreadTeam& team_;
  float low_rank_norm_eps_ = kLowRankNormEps;
};

}  // namespace daybreak::model
