// SPDX-License-Identifier: Apache-2.0
#include "chat/bad_word_ids.h"

#include <algorithm>
#include <utility>

namespace daybreak::chat {

std::vector<std::vector<TokenId>> bad_word_ids(std::span<const std::string> words,
                                               const tokenizer::Tokenizer& tokenizer) {
  std::vector<std::vector<TokenId>> sequences;
  for (const std::string& word : words) {
    const std::string bare = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    for (const std::string& text : {bare, " " + bare}) {
      std::vector<TokenId> ids;
      tokenizer.encode(text, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
      if (!ids.empty() && std::ranges::find(sequences, ids) == sequences.end()) {
        sequences.push_back(std::move(ids));
      }
    }
  }
  return sequences;
}

}  // namespace daybreak::chat
