// SPDX-License-Identifier: Apache-2.0
#pragma once

// Blocks of an assistant message for tools that Anthropic's servers ran: such conversations go on
// here, where nothing runs tools, as calls with their results.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Whether a block of this type is such a call: server_tool_use or mcp_tool_use. Its members are
// those of a tool_use.
[[nodiscard]] bool is_server_call(std::string_view type);

// Whether a block of this type is the result of one: mcp_tool_result, web_search_tool_result and
// whatever else ends so.
[[nodiscard]] bool is_server_result(std::string_view type);

// Reads the content of such a result: that of mcp_tool_result as that of a tool_result, any other
// as its JSON, without the members that are sealed for Anthropic's servers.
// Errors: kInvalidArgument.
[[nodiscard]] Result<std::vector<ContentPart>> read_server_result(const Field& block,
                                                                  std::string_view type,
                                                                  const ChatLimits& limits);

}  // namespace daybreak::chat
