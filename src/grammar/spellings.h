// SPDX-License-Identifier: Apache-2.0
#pragma once

// Spellings: the few tokens that spell given texts inside a JSON string. The masks of strings know
// nothing of single texts; keys that the schema names, keys that were there already and values that
// must not come twice are told apart by these tokens.

#include <array>
#include <cstdint>
#include <vector>

#include "base/token.h"
#include "grammar/string_lexer.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

struct Spellings {
  // Tokens that end within a text or at its end, before the closing quote. Sorted, distinct.
  std::vector<TokenId> inside;
  // Nodes where all that is left of a text and the closing quote have been read: their tokens and
  // all below them.
  struct Closing {
    TokenTrie::Node quote = 0;
    std::size_t text = 0;  // which of the given ones
  };
  std::vector<Closing> closing;
};

// Immutable. The trie outlives it.
class SpellingIndex {
 public:
  explicit SpellingIndex(const TokenTrie& trie);

  // Returns the tokens that, read inside a JSON string at `state`, spell a beginning of one of
  // `rests` (code points).
  [[nodiscard]] Spellings find(const StringState& state,
                               const std::vector<std::vector<std::uint32_t>>& rests) const;

 private:
  class Search;
  const TokenTrie& trie_;
  std::array<TokenTrie::Node, 256> first_{};  // children of the root, which has many
};

}  // namespace daybreak::grammar
