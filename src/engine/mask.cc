// SPDX-License-Identifier: Apache-2.0
#include "engine/mask.h"

#include <algorithm>
#include <array>
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

constexpr std::array<std::uint32_t, 32> kBits = [] {
  std::array<std::uint32_t, 32> bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = std::uint32_t{1} << i;
  }
  return bits;
}();

// On bit patterns and without jumps, so that it becomes vector code: which ids are allowed is as
// good as random, and a guess at each would take a hundred times as long.
void apply_word(std::uint32_t word, std::span<float, 32> row) {
  constexpr auto kForbiddenBits = std::bit_cast<std::uint32_t>(kForbidden);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::uint32_t keep = (word & kBits[i]) != 0 ? kAll : 0U;
    const auto bits = std::bit_cast<std::uint32_t>(row[i]);
    row[i] = std::bit_cast<float>((bits & keep) | (kForbiddenBits & ~keep));
  }
}

}  // namespace

void apply_mask(std::span<const std::uint32_t> mask, std::span<float> logits) {
  const std::size_t whole = logits.size() / 32 * 32;
  for (std::size_t first = 0; first < whole; first += 32) {
    const std::uint32_t word = mask[first / 32];
    const std::span<float, 32> row = logits.subspan(first).first<32>();
    if (word == 0) {
      std::ranges::fill(row, kForbidden);
    } else if (word != kAll) {
      apply_word(word, row);
    }
  }
  for (std::size_t id = whole; id < logits.size(); ++id) {
    logits[id] = in_mask(mask, static_cast<TokenId>(id)) ? logits[id] : kForbidden;
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
