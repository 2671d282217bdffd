// SPDX-License-Identifier: Apache-2.0
#pragma once

// Words that are one token each, wherever they stand: a space and lower-case letters. A byte-level
// BPE cuts text before every space that begins a word, so that no token spans two of them, and N
// words are N tokens.

#include <string>
#include <vector>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::loadgen {

using Words = std::vector<std::string>;  // each with its space in front

inline constexpr std::size_t kMaxWords = 4'096;
inline constexpr std::size_t kMinWords = 64;

// Words of a vocabulary that is known, those of the lowest ids. Errors: kUnsupported if it has
// fewer than kMinWords.
[[nodiscard]] Result<Words> words_of(const tokenizer::Tokenizer& tokenizer);

// Common English words, for a server whose vocabulary is not known. In K3's they are one token
// each, and likely in others.
[[nodiscard]] Words common_words();

}  // namespace daybreak::loadgen
