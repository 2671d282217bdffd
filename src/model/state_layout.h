// SPDX-License-Identifier: Apache-2.0
#pragma once

// StateLayout: how many floats one sequence needs between two tokens, and where each piece lies.
// A sequence owns one slot of fixed size (the recurrent KDA matrices and the convolution tails of
// every KDA layer) and one page per 64 positions (the MLA latents of every MLA layer).

#include <cstddef>
#include <cstdint>

#include "model/config.h"

namespace daybreak::model {

// Positions per page of latents. It is also the attention tile of numerics rule 5, so a tile never
// crosses a page.
inline constexpr std::size_t kPagePositions = 64;

//   slot: [kda_layers][heads][key_dim][value_dim] state, then [kda_layers][taps - 1][channels]
//   tails page: [mla_layers][kPagePositions][latent_width]
struct StateLayout {
  std::size_t kda_layers = 0;
  std::size_t kda_heads = 0;
  std::size_t kda_head_dim = 0;   // key_dim == value_dim
  std::size_t conv_taps = 0;      // kernel width; taps - 1 past inputs are kept
  std::size_t conv_channels = 0;  // q, k and v channels together: 3 * heads * head_dim
  std::size_t mla_layers = 0;
  std::size_t latent_width = 0;   // kv_lora_rank + qk_rope_head_dim
  std::size_t max_positions = 0;  // bound of one sequence, from config.json
  std::uint64_t fingerprint = 0;  // equal when states are interchangeable, see state_layout.cc

  // Returns the layout of `config`; `weights_fingerprint` distinguishes models of one shape.
  static StateLayout from(const ModelConfig& config, std::uint64_t weights_fingerprint);

  std::size_t head_floats() const { return kda_head_dim * kda_head_dim; }
  std::size_t state_floats() const { return kda_layers * kda_heads * head_floats(); }
  std::size_t tail_floats() const {
    return kda_layers * (conv_taps > 0 ? conv_taps - 1 : 0) * conv_channels;
  }
  std::size_t slot_floats() const { return state_floats() + tail_floats(); }
  std::size_t tile_floats() const { return kPagePositions * latent_width; }
  std::size_t page_floats() const { return mla_layers * tile_floats(); }

  friend bool operator==(const StateLayout&, const StateLayout&) = default;
};

// Returns the pages that `positions` positions need.
constexpr std::size_t pages_for(std::size_t positions) {
  return positions / kPagePositions + (positions % kPagePositions != 0 ? 1 : 0);
}

}  // namespace daybreak::model
