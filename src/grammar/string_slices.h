// SPDX-License-Identifier: Apache-2.0
#pragma once

// StringSlices: a vocabulary cut into classes of tokens that use the same groups of characters, for
// answering "which tokens stay inside the string" class by class instead of token by token. All of
// it looks at tokens as a string between two code points sees them: decoded, escapes included.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "grammar/char_groups.h"
#include "grammar/code_trie.h"
#include "grammar/string_lexer.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

using MaskRow = std::vector<std::uint32_t>;

// Tokens of whole code points.
struct TokenClass {
  GroupMask alphabet = 0;            // groups that occur in some token
  GroupMask required = 0;            // groups that occur in every token
  GroupMask first = 0;               // groups of the first code points
  CodeTrie trie;                     // items are ids
  std::vector<TokenId> ids;          // by number of code points
  std::vector<std::uint32_t> up_to;  // [longest + 1] how many ids have at most that many

  [[nodiscard]] std::size_t longest() const { return up_to.size() - 1; }
};

// A token that ends within a code point.
struct TailToken {
  StringState end;  // phase, partial and missing
  TokenId id = 0;
};

// A token that closes the string after the code points of prefix number `prefix`.
struct ExitToken {
  TokenTrie::Node rest = TokenTrie::kRoot;
  std::uint32_t prefix = 0;
  TokenId id = 0;
};

// One coding's view of the vocabulary.
struct CodingSlices {
  std::vector<const TokenClass*> classes;
  std::vector<TailToken> tails;
  std::size_t root_tails = 0;  // the first of them have no whole code point before
  CodeTrie tail_trie;          // the others; items index `tails`
  // The tokens that some string goes on with, by the code points it needs for that: an unfinished
  // one counts.
  std::vector<TokenId> ids;
  std::vector<std::uint32_t> up_to;  // as in TokenClass
  // kJson only. Prefix 0 is the empty one.
  CodeTrie prefixes;
  std::vector<std::uint32_t> prefix_chars;
  std::vector<ExitToken> exits;  // by (rest, prefix)

  [[nodiscard]] std::size_t longest() const { return up_to.size() - 1; }
};

// Immutable, thread-safe.
class StringSlices {
 public:
  // `trie` outlives this. `words`: length of a row.
  StringSlices(const TokenTrie& trie, std::size_t words);

  [[nodiscard]] const CodingSlices& of(StringCoding coding) const {
    return codings_[static_cast<std::size_t>(coding)];
  }
  [[nodiscard]] const TokenTrie& trie() const { return *trie_; }
  [[nodiscard]] const TokenTrie& rests() const { return *rests_; }
  [[nodiscard]] std::size_t words() const { return words_; }

 private:
  class Builder;
  const TokenTrie* trie_;
  std::size_t words_;
  std::unique_ptr<TokenTrie> rests_;
  std::vector<std::unique_ptr<TokenClass>> classes_;
  std::array<CodingSlices, 2> codings_;
};

}  // namespace daybreak::grammar
