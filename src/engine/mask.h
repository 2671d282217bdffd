// SPDX-License-Identifier: Apache-2.0
#pragma once

// Masks of token ids applied to rows of logits.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/token.h"

namespace daybreak::engine {

// Sets the logits of all ids outside `mask` to -inf and leaves the others as they are.
// REQUIRES: mask.size() >= mask_words(logits.size()).
void apply_mask(std::span<const std::uint32_t> mask, std::span<float> logits);

[[nodiscard]] inline bool in_mask(std::span<const std::uint32_t> mask, TokenId id) {
  return (mask[id / 32] >> (id % 32) & 1U) != 0;
}

// Returns how many of the first `vocab_size` ids are in the mask.
[[nodiscard]] std::size_t count_mask(std::span<const std::uint32_t> mask, std::size_t vocab_size);

}  // namespace daybreak::engine
