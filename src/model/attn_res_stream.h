// SPDX-License-Identifier: Apache-2.0
#pragma once

// ResidualStream: what flows between the sublayers. With Attention Residuals (spec section 5) it is
// a partial sum plus the blocks saved so far, and every sublayer reads a softmax mixture of them;
// with ordinary residuals it is one running sum. Blocks concern a token alone, so nothing here
// outlives a step.

#include <cstddef>
#include <optional>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "model/config.h"
#include "model/weights.h"

namespace daybreak::model {

class ResidualStream {
 public:
  // Room for `tokens` tokens of a model with `config`'s layers.
  ResidualStream(const ModelConfig& config, std::size_t tokens);

  // Starts a step: no blocks, and the caller fills stream() with the embeddings.
  void begin(std::size_t tokens);
  // [tokens, hidden]
  float* stream() { return stream_.data(); }

  // x = rms_norm(what layer `layer`'s attention reads). Adds the block that starts here, if any.
  void enter_attention(std::size_t layer, const LayerWeights& weights, float* x, ThreadTeam& team);
  // Adds the attention's output y, or starts the partial sum anew from it after a saved block.
  // Then x = rms_norm(what the feed-forward part reads).
  void enter_feed_forward(std::size_t layer, const LayerWeights& weights, const float* y, float* x,
                          ThreadTeam& team);
  // Adds the feed-forward part's output y.
  void leave_layer(const float* y, ThreadTeam& team);
  // x = rms_norm(the output mixture) of one token.  x: [hidden]
  void finish(std::size_t token, const ModelWeights& weights, float* x);

  // For tests of single layers: the saved blocks, [tokens, hidden] each, oldest first.
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  float* add_block() { return block(blocks_++); }
  float* block(std::size_t index) { return blocks_data_.data() + index * capacity_ * hidden_; }

 private:
  [[nodiscard]] bool starts_block(std::size_t layer) const {
    return block_size_ && layer % *block_size_ == 0;
  }
  void mix_and_norm(std::size_t token, const AttnResSite& site, const std::vector<float>& norm,
                    float* x);

  const std::size_t hidden_;
  const std::size_t capacity_;
  const float eps_;
  const std::optional<std::size_t> block_size_;
  AlignedBuffer<float> stream_;       // [capacity, hidden]
  AlignedBuffer<float> blocks_data_;  // [max blocks, capacity, hidden]
  std::size_t blocks_ = 0;
  std::size_t tokens_ = 0;
};

}  // namespace daybreak::model
