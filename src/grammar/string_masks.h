// SPDX-License-Identifier: Apache-2.0
#pragma once

// StringMasks: which tokens may follow inside a string. Most of a mask in structured output is "any
// text", and it depends on nothing but the string: it is computed once per (language, state), kept
// in a bounded cache that all grammars of one vocabulary share, and joined by the caller with what
// may follow after the quote.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/token.h"
#include "grammar/string_lexer.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

// Tokens that close the string and go on: all of `ids` have the bytes of node `rest` of
// StringMasks::rests() after the quote, where the language accepts.
struct StringExit {
  TokenTrie::Node rest = TokenTrie::kRoot;  // kRoot: the token ends with the quote
  Dfa::State state = 0;                     // at the quote
  std::span<const TokenId> ids;             // of StringMask::exit_ids
};

// The answer for one state. Immutable; not copied, because the exits point into it.
struct StringMask {
  StringMask() = default;
  StringMask(const StringMask&) = delete;
  StringMask& operator=(const StringMask&) = delete;

  // Tokens that end inside the string: either a bit row over the vocabulary or a list.
  std::shared_ptr<const std::vector<std::uint32_t>> row;  // [words], null: use `list`
  bool shared_row = false;  // kept elsewhere too, not counted in bytes()
  std::vector<TokenId> list;
  std::vector<StringExit> exits;  // kJson only; sorted by `rest`, (rest, state) may repeat
  std::vector<TokenId> exit_ids;

  [[nodiscard]] std::size_t bytes() const;
};

class StringMasks {
 public:
  // `trie` outlives this; `words` is the length of a mask row. `cache_bytes` bounds what is kept.
  StringMasks(const TokenTrie& trie, std::size_t words, std::size_t cache_bytes);
  ~StringMasks();

  // Returns the mask of `state` (after the opening quote, before any byte). Thread-safe; a caller
  // that needs an entry another thread is computing computes it too rather than wait.
  [[nodiscard]] std::shared_ptr<const StringMask> find(
      const std::shared_ptr<const StringLanguage>& language, StringCoding coding,
      const StringState& state);

  // The distinct byte strings that follow a quote within tokens, as a trie whose "ids" are their
  // numbers: the caller walks it with what may come after the string.
  [[nodiscard]] const TokenTrie& rests() const;

  struct Stats {
    std::uint64_t hits = 0, misses = 0;
    std::size_t entries = 0, bytes = 0;
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::grammar
