// SPDX-License-Identifier: Apache-2.0
#pragma once

// VocabularyIndex: everything about a vocabulary that masks need: the trie of its tokens and the
// shared string masks. One per model; thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/number_masks.h"
#include "grammar/spellings.h"
#include "grammar/string_masks.h"
#include "grammar/token_trie.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::grammar {

struct VocabularyIndexOptions {
  std::size_t mask_cache_bytes = std::size_t{32} << 20;
  std::size_t number_cache_bytes = std::size_t{4} << 20;
};

class VocabularyIndex {
 public:
  // `vocab_size` is the model's (rows of logits), at least the tokenizer's; ids beyond the
  // tokenizer's and special tokens are in no mask unless a grammar names them.
  [[nodiscard]] static std::shared_ptr<const VocabularyIndex> make(
      const tokenizer::Tokenizer& tokenizer, std::size_t vocab_size,
      const VocabularyIndexOptions& options = {});

  [[nodiscard]] std::size_t vocab_size() const { return vocab_size_; }
  [[nodiscard]] std::size_t words() const { return (vocab_size_ + 31) / 32; }
  [[nodiscard]] const TokenTrie& trie() const { return *trie_; }
  [[nodiscard]] StringMasks& strings() const { return *strings_; }
  [[nodiscard]] NumberMasks& numbers() const { return *numbers_; }
  [[nodiscard]] const SpellingIndex& spellings() const { return *spellings_; }
  // Returns the bytes of an ordinary token; empty for special tokens and ids beyond the vocabulary.
  [[nodiscard]] std::string_view token(TokenId id) const;
  // All ordinary tokens, [words()].
  [[nodiscard]] std::span<const std::uint32_t> ordinary() const { return ordinary_; }

 private:
  VocabularyIndex() = default;
  std::size_t vocab_size_ = 0;
  std::string bytes_;
  std::vector<std::uint32_t> offsets_;
  std::unique_ptr<TokenTrie> trie_;
  std::unique_ptr<StringMasks> strings_;
  std::unique_ptr<NumberMasks> numbers_;
  std::unique_ptr<SpellingIndex> spellings_;
  std::vector<std::uint32_t> ordinary_;
};

}  // namespace daybreak::grammar
