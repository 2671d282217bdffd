// SPDX-License-Identifier: Apache-2.0
#pragma once

// PromptWriter: the text of a trace's prompts. It is made of words by hash, so that equal blocks
// have equal text in every run of one seed, and nothing of it has to be kept.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "loadgen/words.h"

namespace daybreak::loadgen {

// What a prompt is made of.
struct PromptPlan {
  std::uint64_t scope = 0;  // of the names of blocks
  std::span<const std::uint64_t> blocks;
  std::size_t block_tokens = 0;
  std::uint64_t tail = 0;  // names the text that follows the blocks, of this prompt alone
  std::size_t words = 0;   // of the whole prompt
};

// Immutable, so safe to share.
class PromptWriter {
 public:
  // `scale` > 0: lengths are those of the trace times this. REQUIRES: `words` is not empty.
  PromptWriter(Words words, std::uint64_t seed, double scale);

  // Returns a length of the trace as it is asked for here; at least 1.
  [[nodiscard]] std::size_t scaled(std::size_t tokens) const;

  // Returns plan.words words. Block b covers those from ceil(b * block_tokens * scale) on, up to
  // the next block: the texts of equal blocks at equal places are equal, and at other places equal
  // but for the last word, where scaling rounds otherwise.
  [[nodiscard]] std::string write(const PromptPlan& plan) const;

 private:
  [[nodiscard]] std::size_t begin_of_block(std::size_t block, std::size_t block_tokens) const;
  void append(std::string& out, std::uint64_t name, std::size_t count) const;

  const Words words_;
  const std::uint64_t seed_;
  const double scale_;
};

}  // namespace daybreak::loadgen
