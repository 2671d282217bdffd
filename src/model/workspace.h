// SPDX-License-Identifier: Apache-2.0
#pragma once

// Workspace: the activation memory of one forward pass, allocated once. Its capacity bounds how
// many tokens go through the layers together; longer input is cut into several passes, which
// changes speed and never a bit.

#include <cstddef>
#include <vector>

#include "base/aligned_buffer.h"
#include "model/attn_res_stream.h"
#include "model/config.h"
#include "model/forward_step.h"
#include "model/kda_layer.h"
#include "model/lora_step.h"
#include "model/mla_layer.h"
#include "model/mlp_layer.h"
#include "model/moe_layer.h"

namespace daybreak::model {

// Enough tokens per pass that weights are read once for many of them.
inline constexpr std::size_t kDefaultWorkspaceTokens = 64;

struct WorkspaceOptions {
  std::size_t tokens = kDefaultWorkspaceTokens;  // >= 1
};

// For one model shape, used by one forward() at a time.
class Workspace {
 public:
  explicit Workspace(const ModelConfig& config, const WorkspaceOptions& options = {});

  [[nodiscard]] std::size_t tokens() const { return tokens_; }
  [[nodiscard]] StepCounters counters() const;

 private:
  friend class ForwardPass;

  std::size_t tokens_;
  ResidualStream residual_;
  AlignedBuffer<float> sublayer_in_;   // [tokens, hidden]
  AlignedBuffer<float> sublayer_out_;  // [tokens, hidden]
  AlignedBuffer<float> logits_;        // [tokens, vocab]
  KdaScratch kda_;
  MlaScratch mla_;
  MlpScratch mlp_;
  MoeScratch moe_;
  LoraStep lora_;
  std::vector<Segment> segments_;  // of the current step
  std::vector<SegmentSource> sources_;
  std::vector<LogitTarget> targets_;
  StepCounters counters_;  // experts_read is kept in moe_
};

}  // namespace daybreak::model
