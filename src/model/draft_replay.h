// SPDX-License-Identifier: Apache-2.0
#pragma once

// DraftReplay: what the KDA layers of one sequence have computed of drafted tokens, which may not
// count in the end. Their state cannot be cut back, so that the tokens run on a copy of each head's
// matrix, and what they write is recorded; once it is known how many count, the writes of those are
// repeated on the matrix itself (numerics rule 9), by the head's next run or before the state is
// read. The bits are those of tokens that never were drafts.

#include <cstddef>
#include <span>

#include "base/aligned_buffer.h"
#include "model/state_layout.h"

namespace daybreak::model {

// What one head needs to repeat a token.
struct DraftWrite {
  const float* inputs = nullptr;   // [conv_channels] before the convolution; all heads
  const float* k = nullptr;        // [head_dim]
  const float* decay = nullptr;    // [head_dim]
  const float* written = nullptr;  // [head_dim] w of kernels::kda_step
};

// Different heads may be used from different threads.
class DraftReplay {
 public:
  // Throws std::bad_alloc.
  DraftReplay(const StateLayout& layout, std::size_t max_tokens);

  // Returns the floats that it keeps.
  [[nodiscard]] static std::size_t floats(const StateLayout& layout, std::size_t max_tokens) {
    return layout.kda_heads * layout.head_floats() +
           layout.kda_layers * max_tokens * 2 * layout.conv_channels;
  }

  [[nodiscard]] std::size_t max_tokens() const { return max_tokens_; }

  // Returns memory [head_dim, head_dim] for the copy of a head's matrix, of any layer.
  [[nodiscard]] float* copy_of(std::size_t head) {
    return copies_.data() + head * layout_.head_floats();
  }
  // Returns memory [head_dim] for DraftWrite::written.
  [[nodiscard]] float* written(std::size_t layer, std::size_t head, std::size_t token) {
    return row(layer, token) + layout_.conv_channels + 2 * width() + head * layout_.kda_head_dim;
  }
  // Copies the rest of `write`; of the inputs the channels of `head`.
  void record(std::size_t layer, std::size_t head, std::size_t token, const DraftWrite& write);

  // The first `tokens` recorded ones are to be replayed; 0: all is done.
  void accept(std::size_t tokens) { accepted_ = tokens; }
  [[nodiscard]] std::size_t accepted() const { return accepted_; }

  // Repeats the accepted tokens for one head of one layer.
  //   matrix: [head_dim, head_dim] ; tail: [conv_taps - 1, conv_channels] of the layer, oldest
  //   first
  void replay(std::size_t layer, std::size_t head, float* matrix, float* tail) const;

 private:
  [[nodiscard]] std::size_t width() const { return layout_.conv_channels / 3; }
  // [conv_channels] inputs, [width] k, [width] decay, [width] written
  [[nodiscard]] const float* row(std::size_t layer, std::size_t token) const {
    return rows_.data() + (layer * max_tokens_ + token) * 2 * layout_.conv_channels;
  }
  [[nodiscard]] float* row(std::size_t layer, std::size_t token) {
    return rows_.data() + (layer * max_tokens_ + token) * 2 * layout_.conv_channels;
  }

  const StateLayout layout_;
  const std::size_t max_tokens_;
  AlignedBuffer<float> copies_;
  AlignedBuffer<float> rows_;
  std::size_t accepted_ = 0;
};

}  // namespace daybreak::model
