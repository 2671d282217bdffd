// SPDX-License-Identifier: Apache-2.0
#include "loadgen/prompt_writer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.h"

namespace daybreak::loadgen {
namespace {

// Names of blocks and of tails are apart, whatever their numbers.
constexpr std::uint64_t kOfBlock = 1;
constexpr std::uint64_t kOfTail = 2;

}  // namespace

PromptWriter::PromptWriter(Words words, std::uint64_t seed, double scale)
    : words_(std::move(words)), seed_(mix64(seed)), scale_(scale) {}

std::size_t PromptWriter::scaled(std::size_t tokens) const {
  const double scaled = std::round(static_cast<double>(tokens) * scale_);
  return std::max<std::size_t>(1, static_cast<std::size_t>(scaled));
}

std::size_t PromptWriter::begin_of_block(std::size_t block, std::size_t block_tokens) const {
  return static_cast<std::size_t>(std::ceil(static_cast<double>(block * block_tokens) * scale_));
}

std::string PromptWriter::write(const PromptPlan& plan) const {
  constexpr std::size_t kUsualBytes = 8;  // of a word
  std::string out;
  out.reserve(plan.words * kUsualBytes);
  const std::uint64_t scope = mix64(mix64(seed_, plan.scope), kOfBlock);
  std::size_t written = 0;
  for (std::size_t b = 0; b < plan.blocks.size() && written < plan.words; ++b) {
    const std::size_t end = std::min(plan.words, begin_of_block(b + 1, plan.block_tokens));
    append(out, mix64(scope, plan.blocks[b]), end - written);
    written = end;
  }
  append(out, mix64(mix64(seed_, plan.tail), kOfTail), plan.words - written);
  return out;
}

void PromptWriter::append(std::string& out, std::uint64_t name, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    out += words_[mix64(name + i) % words_.size()];
  }
}

}  // namespace daybreak::loadgen
