// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tools of an Anthropic Messages request.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Reads an array of custom tools; `names` takes their names. Tools that Anthropic's servers run, or
// whose schema only Anthropic's models know, are refused by name.
// Errors: kInvalidArgument (also for a name declared twice).
[[nodiscard]] Result<std::vector<Tool>> read_anthropic_tools(
    const Field& field, const ChatLimits& limits, std::set<std::string, std::less<>>& names);

// Sets tool_choice and parallel_tool_calls of `request`. Errors: kInvalidArgument.
[[nodiscard]] Status read_anthropic_tool_choice(const Field& field,
                                                const std::set<std::string, std::less<>>& names,
                                                ChatRequest& request);

}  // namespace daybreak::chat
