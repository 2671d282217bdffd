// SPDX-License-Identifier: Apache-2.0
#pragma once

// TokenRatio: how many words make a prompt of a number of tokens, learnt from two requests before
// the run: what a server adds around a prompt, and how many of its tokens a word is.

#include <cstddef>

#include "base/result.h"
#include "loadgen/prompt_writer.h"
#include "loadgen/target.h"

namespace daybreak::loadgen {

struct TokenRatio {
  double tokens_per_word = 1;
  double added_tokens = 0;  // around the words: a chat template

  // Returns how many words give a prompt of `tokens`, or come closest; at least 1.
  [[nodiscard]] std::size_t words_for(std::size_t tokens) const;
};

// Asks for one token after two prompts of different lengths. Both ratios are as above where the
// server tells no usage. Errors: kUnavailable with what the server said, kCancelled.
[[nodiscard]] Result<TokenRatio> learn_ratio(const Target& target, const PromptWriter& writer,
                                             const std::function<bool()>& interrupted);

}  // namespace daybreak::loadgen
