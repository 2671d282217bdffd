// SPDX-License-Identifier: Apache-2.0
#pragma once

// bad_words as a sampler can enforce them: sequences of ids.

#include <span>
#include <string>
#include <vector>

#include "base/token.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat {

// Returns the ids of each word as it stands at the start of a text and after a space (spaces the
// client put in front of it count as neither), without repeats. A word that the model spells with
// other tokens than these is not found: they are those the tokenizer itself would use. Thread-safe.
[[nodiscard]] std::vector<std::vector<TokenId>> bad_word_ids(std::span<const std::string> words,
                                                             const tokenizer::Tokenizer& tokenizer);

}  // namespace daybreak::chat
