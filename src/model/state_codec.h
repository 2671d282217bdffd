// SPDX-License-Identifier: Apache-2.0
#pragma once

// The byte form of a SequenceState, for session files and transfers. Little-endian:
//
//   offset  0  "DAYSTATE"
//           8  u32 version (1), u32 zero
//          16  u64 fingerprint of the model (StateLayout::fingerprint)
//          24  u64 position
//          32  u64 payload bytes
//          40  u64 checksum of bytes [0, 40) and of the payload
//          48  payload: f32 slot [slot_floats], then f32 latents [mla_layers][position][width]

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/state_arena.h"
#include "model/state_layout.h"

namespace daybreak::model {

inline constexpr std::uint32_t kStateVersion = 1;
inline constexpr std::size_t kStateHeaderBytes = 48;

// Returns the byte form. `pages` hold at least `position` positions.
[[nodiscard]] std::vector<std::byte> encode_state(const StateLayout& layout, std::size_t position,
                                                  const Loan& slot, std::span<const Loan> pages);

// A checked byte form; views the bytes it was decoded from.
struct StateImage {
  std::size_t position = 0;
  std::span<const std::byte> slot;
  std::span<const std::byte> latents;

  // Writes the image. Positions of the last page past `position` become zero.
  // REQUIRES: pages.size() == pages_for(position), the layout passed to decode_state.
  void copy_to(const StateLayout& layout, const Loan& slot_out,
               std::span<const Loan> pages_out) const;
};

// Errors: as SequenceState::restore, except kResourceLimit.
[[nodiscard]] Result<StateImage> decode_state(const StateLayout& layout, std::size_t max_positions,
                                              std::span<const std::byte> bytes);

}  // namespace daybreak::model
