// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether sampled ids are a whole answer in K3's format, to the letter: every marker where it
// belongs, every tag, calls numbered from 1, every argument a value of its declared type. Unlike
// the output parser of the API, which makes the best of what a model writes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/token.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::exam {

enum class Thinking : std::uint8_t { kOff, kOn };

// `ids` are the first of `total` ids: the API does not tell those after the last piece of text.
// What is missing must be as many ids as the shortest end of the answer has. Returns what is wrong,
// for a person; empty: nothing. Thread-safe.
[[nodiscard]] std::string format_fault(const tokenizer::Tokenizer& tokenizer,
                                       std::span<const TokenId> ids, std::size_t total,
                                       Thinking thinking);

}  // namespace daybreak::exam
