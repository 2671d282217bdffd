// SPDX-License-Identifier: Apache-2.0
#pragma once

// Types of the attention kernels: attention residuals and tiles of absorbed MLA (rule 5). The
// functions are in mla.h and attn_res.h; this header exists so that the kernel table can name them.

#include <cstddef>

namespace daybreak::kernels {

// Positions per MLA tile, at absolute positions 64 i .. 64 i + 63.
inline constexpr std::size_t kMlaTile = 64;
// Positions per super-tile: tiles merge ascending inside it, super-tiles merge ascending.
inline constexpr std::size_t kMlaSuperTile = 4096;

// The absorbed queries of some heads of one token.
struct MlaTileQueries {
  const float* q;      // [heads, stride]: rank absorbed values, then the rope part
  std::size_t stride;  // >= MlaTileRows::width
  std::size_t heads;
  float scale;  // multiplies the score
};

// The latents of one tile, as read back from their storage format.
struct MlaTileRows {
  const float* rows;   // [valid, stride]: rank normed latents, then the rope part
  std::size_t stride;  // >= width
  std::size_t width;   // rank + rope part
  std::size_t rank;
  // Rows this token may see, 1..64. Later rows of the tile weigh exactly 0 and are not read.
  std::size_t valid;
};

// The running softmax of one head: out[c] = values[c] / sum, scores relative to max.
struct MlaAccumulator {
  float* max;     // one float, -inf when empty
  float* sum;     // one float
  float* values;  // [rank]
};

}  // namespace daybreak::kernels
