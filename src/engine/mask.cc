// SPDX-License-Identifier: Apache-2.0
#include "engine/mask.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace daybreak::engine {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();
constexpr std::uint32_t kAll = ~std::uint32_t{0};

// The word's bits that stand for ids below `vocab_size`.
std::uint32_t valid_bits(std::size_t word, std::size_t vocab_size) {
  const std::size_t left = vocab_size - word * 32;
  return left >= 32 ? kAll : kAll >> (32 - left);
}

}  // namespace

void apply_mask(std::span<const std::uint32_t> mask, std::span<float> logits) {
  for (std::size_t first = 0; first < logits.size(); first += 32) {
    const std::uint32_t word = mask[first / 32];
    if (word == kAll) {
      continue;
    }
    const std::span<float> row =
        logits.subspan(first, std::min<std::size_t>(32, logits.size() - first));
    if (word == 0) {
      std::ranges::fill(row, kForbidden);
      continue;
    }
    // A choice, not a jump: which ids are allowed is as good as random here.
    for (std::size_t bit = 0; bit < row.size(); ++bit) {
      row[bit] = (word >> bit & 1U) != 0 ? row[bit] : kForbidden;
    }
  }
}

std::size_t count_mask(std::span<const std::uint32_t> mask, std::size_t vocab_size) {
  std::size_t count = 0;
  for (std::size_t word = 0; word * 32 < vocab_size; ++word) {
    count += static_cast<std::size_t>(std::popcount(mask[word] & valid_bits(word, vocab_size)));
  }
  return count;
}

}  // namespace daybreak::engine
