// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tool-related fields of a request: declarations, tool_choice, response_format.

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Reads an array of function tools. `names` holds every name declared so far in the request and
// takes the new ones. Errors: kInvalidArgument (also for a name declared twice).
[[nodiscard]] Result<std::vector<Tool>> read_tools(const Field& field, const ChatLimits& limits,
                                                   std::set<std::string, std::less<>>& names);

[[nodiscard]] Result<ToolChoice> read_tool_choice(const Field& field,
                                                  const std::set<std::string, std::less<>>& names);

[[nodiscard]] Result<ResponseFormat> read_response_format(const Field& field,
                                                          const ChatLimits& limits);

// Checks the name under which a tool is declared: 1 to 256 of the characters that the APIs of
// OpenAI and Anthropic and MCP servers know, [A-Za-z0-9_./:-]; kVendor:
// [A-Za-z_][A-Za-z0-9_-]{0,255}. Errors: kInvalidArgument.
[[nodiscard]] Status check_tool_name(const Field& name, Contract contract);

}  // namespace daybreak::chat
