// SPDX-License-Identifier: Apache-2.0
#pragma once

// The lines that `daybreak tokenize --jsonl` and `daybreak detokenize --jsonl` answer.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {

// Ids of one line: twice the longest context.
inline constexpr std::size_t kMaxDetokenizeIds = 2'097'152;

// Answers {"text":STRING, "special":BOOL, "sliced":BOOL} with {"ids":[...]}. "special" (whether the
// spellings of special tokens count) is false and "sliced" is true if absent. A lone surrogate
// escape counts as U+FFFD. Errors: kInvalidArgument naming the field, unknown and repeated ones
// too; kTooLarge for deep nesting.
Result<std::string> tokenize_line(const tokenizer::Tokenizer& tokenizer, std::string line);

// Answers {"ids":[...], "skip_special":BOOL} with {"text":STRING}; bytes that are not UTF-8 come
// out as U+FFFD. "skip_special" (leave out the tokens whose file says special:true) is false if
// absent. Errors: as above, naming the place in the field as well; kTooLarge past
// kMaxDetokenizeIds.
Result<std::string> detokenize_line(const tokenizer::Tokenizer& tokenizer, const std::string& line);

}  // namespace daybreak::cli
