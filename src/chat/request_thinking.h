// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the many spellings of "think" a request used, and what they add up to.

#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Reads chat_template_kwargs, thinking and reasoning_effort, the earlier of these winning over the
// later; inside chat_template_kwargs the native names win over the aliases. Nothing given: thinking
// on, effort max. Unknown kwargs are appended to `ignored`.
// A reasoning_effort is none (thinking off) or what effort_named() knows; the other fields take the
// model's own efforts, low, high and max.
// Errors: kInvalidArgument.
[[nodiscard]] Result<Thinking> read_thinking(const Field& root, std::vector<std::string>& ignored);

}  // namespace daybreak::chat
