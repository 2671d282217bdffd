// SPDX-License-Identifier: Apache-2.0
#pragma once

// One line of `daybreak parse --jsonl`: generated ids in, the message they mean out.

#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/markers.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat {

inline constexpr std::size_t kMaxParseLineIds = 2'097'152;

// Reads {"ids":[...], "thinking":bool=true, "tools":bool=true, "chunks":[n,...]?} and returns
// {"message":{"reasoning_content","content","tool_calls"},"events":[...],"finish_reason"}.
// `thinking` says which channel the prompt opened. The ids are pushed in chunks of the given sizes,
// the rest in one; without `chunks` all at once. Calls have no id, so that lines compare.
// finish_reason is "length" if nothing ended the turn.
// Errors: kInvalidArgument.
[[nodiscard]] Result<std::string> parse_line(std::string_view line,
                                             const tokenizer::Tokenizer& tokenizer,
                                             const MarkerIds& markers);

}  // namespace daybreak::chat
