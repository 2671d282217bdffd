// SPDX-License-Identifier: Apache-2.0
#include "engine/banned_words.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace daybreak::engine {

BannedWords::BannedWords(std::vector<std::vector<TokenId>> sequences)
    : sequences_(std::move(sequences)) {
  for (const std::vector<TokenId>& sequence : sequences_) {
    longest_ = std::max(longest_, sequence.size());
  }
}

void BannedWords::add(TokenId id) {
  if (longest_ < 2) {
    return;
  }
  if (last_.size() == longest_ - 1) {
    last_.erase(last_.begin());
  }
  last_.push_back(id);
}

void BannedWords::apply(std::span<float> logits) const {
  for (const std::vector<TokenId>& sequence : sequences_) {
    const auto before = std::span(sequence).first(sequence.size() - 1);
    if (before.size() <= last_.size() &&
        std::ranges::equal(before, std::span(last_).last(before.size()))) {
      logits[sequence.back()] = -std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace daybreak::engine
