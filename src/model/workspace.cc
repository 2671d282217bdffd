// SPDX-License-Identifier: Apache-2.0
#include "model/workspace.h"

#include <algorithm>

namespace daybreak::model {
namespace {

// Layer kinds that the model does not have get scratch of size 0.
KdaConfig kda_of(const ModelConfig& config) {
  return config.kda_layer_count() > 0 ? config.kda : KdaConfig{};
}
MlaConfig mla_of(const ModelConfig& config) {
  return config.mla_layer_count() > 0 ? config.mla : MlaConfig{};
}
MoeConfig moe_of(const ModelConfig& config) { return config.moe.value_or(MoeConfig{}); }

}  // namespace

Workspace::Workspace(const ModelConfig& config, const WorkspaceOptions& options)
    : tokens_(std::max<std::size_t>(1, options.tokens)),
      residual_(config, tokens_),
      sublayer_in_(tokens_ * config.hidden_size),
      sublayer_out_(tokens_ * config.hidden_size),
      logits_(tokens_ * config.vocab_size),
      kda_(kda_of(config), tokens_),
      mla_(mla_of(config), tokens_),
      mlp_(config.intermediate_size, tokens_),
      moe_(moe_of(config), config.hidden_size, tokens_),
      lora_(tokens_) {
  segments_.reserve(tokens_);
  sources_.reserve(tokens_);
  targets_.reserve(tokens_);
}

StepCounters Workspace::counters() const {
  StepCounters counters = counters_;
  counters.experts_read = moe_.experts_read;
  return counters;
}

}  // namespace daybreak::model
