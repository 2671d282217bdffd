// SPDX-License-Identifier: Apache-2.0
#include "model/draft_replay.h"

#include <algorithm>

#include "kernels/kda.h"

namespace daybreak::model {

DraftReplay::DraftReplay(const StateLayout& layout, std::size_t max_tokens)
    : layout_(layout),
      max_tokens_(max_tokens),
      copies_(layout.kda_heads * layout.head_floats()),
      rows_(layout.kda_layers * max_tokens * 2 * layout.conv_channels) {}

void DraftReplay::record(std::size_t layer, std::size_t head, std::size_t token,
                         const DraftWrite& write) {
  const std::size_t dim = layout_.kda_head_dim;
  const std::size_t first = head * dim;
  float* const to = row(layer, token);
  for (std::size_t part = 0; part < 3; ++part) {
    const std::size_t channel = part * width() + first;
    std::copy_n(write.inputs + channel, dim, to + channel);
  }
  std::copy_n(write.k, dim, to + layout_.conv_channels + first);
  std::copy_n(write.decay, dim, to + layout_.conv_channels + width() + first);
}

void DraftReplay::replay(std::size_t layer, std::size_t head, float* matrix, float* tail) const {
  const std::size_t dim = layout_.kda_head_dim;
  const std::size_t first = head * dim;
  for (std::size_t token = 0; token < accepted_; ++token) {
    const float* const values = row(layer, token) + layout_.conv_channels + first;
    kernels::kda_write(matrix, values, values + width(), values + 2 * width(), dim, dim);
  }
  const std::size_t past = layout_.conv_taps - 1;
  for (std::size_t tap = 0; tap < past; ++tap) {  // ascending: moves down in place
    const std::size_t from = accepted_ + tap;
    const float* const inputs =
        from < past ? tail + from * layout_.conv_channels : row(layer, from - past);
    for (std::size_t part = 0; part < 3; ++part) {
      const std::size_t channel = part * width() + first;
      std::copy_n(inputs + channel, dim, tail + tap * layout_.conv_channels + channel);
    }
  }
}

}  // namespace daybreak::model
