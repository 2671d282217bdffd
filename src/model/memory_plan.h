// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much memory running a model takes: weights, the latent cache that grows with every token, the
// recurrent state each sequence owns, and the residuals of the tokens in flight. The other buffers
// of a pass, a few MB per token for K3, are left out.

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "model/config.h"

namespace daybreak::model {

// Bytes per number of the latent cache and of the convolution tails. `exact` keeps fp32.
enum class StateFormat : std::uint8_t { kF32, kBf16 };
[[nodiscard]] constexpr std::uint64_t bytes_of(StateFormat format) {
  return format == StateFormat::kF32 ? 4 : 2;
}

// The cache is handed out in pages of this many positions.
inline constexpr std::uint64_t kPlanPagePositions = 64;
inline constexpr std::uint64_t kMaxPlanSlots = std::uint64_t{1} << 20;

struct MemoryPlanOptions {
  std::uint64_t context = 4096;   // positions of each sequence
  std::uint64_t slots = 1;        // sequences at once
  std::uint64_t checkpoints = 0;  // copies of a sequence's state, see StateCheckpoint
  std::uint64_t tokens_in_flight = 64;
  StateFormat format = StateFormat::kF32;
};

struct MemoryPlan {
  MemoryPlanOptions options;
  std::uint64_t weights = 0;             // bytes
  std::uint64_t copies = 0;              // key projections, transposed when loading
  std::uint64_t cache_per_token = 0;     // MLA latents of all layers
  std::uint64_t state_per_sequence = 0;  // KDA matrices, always fp32
  std::uint64_t conv_per_sequence = 0;   // taps - 1 past inputs of q, k and v
  std::uint64_t residual_per_token = 0;  // saved blocks and the running sum of AttnRes, fp32
  std::uint64_t cache = 0;               // all slots at full context, whole pages
  std::uint64_t sequences = 0;           // state and conv of all slots
  std::uint64_t checkpoints = 0;         // as many of state and conv
  std::uint64_t in_flight = 0;
  std::uint64_t total = 0;
};

// Errors: kInvalidArgument  a context or a number of slots outside [1, bound], more checkpoints
//                           than kMaxPlanSlots, or a total that overflows 64 bits.
[[nodiscard]] Result<MemoryPlan> plan_memory(const ModelConfig& config, std::uint64_t weight_bytes,
                                             const MemoryPlanOptions& options);

}  // namespace daybreak::model
