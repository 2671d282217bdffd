// SPDX-License-Identifier: Apache-2.0
#include "grammar/vocabulary_index.h"

#include <cassert>

namespace daybreak::grammar {

std::shared_ptr<const VocabularyIndex> VocabularyIndex::make(
    const tokenizer::Tokenizer& tokenizer, std::size_t vocab_size,
    const VocabularyIndexOptions& options) {
  assert(vocab_size >= tokenizer.vocab_size());
  struct Made : VocabularyIndex {};  // the constructor is private
  const std::shared_ptr<VocabularyIndex> index = std::make_shared<Made>();
  index->vocab_size_ = vocab_size;
  index->ordinary_.resize(index->words());
  index->offsets_.push_back(0);
  const std::size_t ids = tokenizer.vocab_size();
  for (TokenId id = 0; id < ids; ++id) {
    if (!tokenizer.is_special(id)) {
      index->bytes_ += tokenizer.bytes_of(id);
      index->ordinary_[id / 32] |= std::uint32_t{1} << (id % 32);
    }
    index->offsets_.push_back(static_cast<std::uint32_t>(index->bytes_.size()));
  }
  std::vector<std::string_view> tokens;
  tokens.reserve(ids);
  for (TokenId id = 0; id < ids; ++id) {
    tokens.push_back(index->token(id));
  }
  index->trie_ = std::make_unique<TokenTrie>(tokens);
  index->strings_ =
      std::make_unique<StringMasks>(*index->trie_, index->words(), options.mask_cache_bytes);
  index->numbers_ = std::make_unique<NumberMasks>(tokens, options.number_cache_bytes);
  index->spellings_ = std::make_unique<SpellingIndex>(*index->trie_);
  return index;
}

std::string_view VocabularyIndex::token(TokenId id) const {
  if (id + std::size_t{1} >= offsets_.size()) {
    return {};
  }
  return std::string_view(bytes_).substr(offsets_[id], offsets_[id + 1] - offsets_[id]);
}

}  // namespace daybreak::grammar
