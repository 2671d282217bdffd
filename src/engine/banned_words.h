// SPDX-License-Identifier: Apache-2.0
#pragma once

// BannedWords: sequences of ids that an answer must not contain.

#include <cstddef>
#include <span>
#include <vector>

#include "base/token.h"

namespace daybreak::engine {

// Remembers as many of the answer's last ids as the longest sequence has, less one. Not
// thread-safe.
class BannedWords {
 public:
  // REQUIRES: no sequence is empty.
  explicit BannedWords(std::vector<std::vector<TokenId>> sequences);

  // Records a generated id.
  void add(TokenId id);

  // Sets to -inf the logit of every id that would complete a sequence. The prompt takes no part: a
  // sequence has to be generated whole. REQUIRES: every id < logits.size().
  void apply(std::span<float> logits) const;

  [[nodiscard]] bool empty() const { return sequences_.empty(); }

 private:
  std::vector<std::vector<TokenId>> sequences_;
  std::vector<TokenId> last_;  // the newest is the last
  std::size_t longest_ = 0;    // sequence
};

}  // namespace daybreak::engine
