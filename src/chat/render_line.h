// SPDX-License-Identifier: Apache-2.0
#pragma once

// One line of `daybreak render --jsonl`: a conversation in the terms of the released encoder
// (messages, tools, kwargs) instead of an API request.

#include <string_view>

#include "base/result.h"
#include "chat/chat_request.h"

namespace daybreak::chat {

// Reads {"messages":..., "tools":...?, "kwargs":{"thinking", "thinking_effort", "tool_choice",
// "response_format", "add_generation_prompt", "image_prompts"}?}. Image parts may carry "width" and
// "height"; `image_prompts`, the media blocks of the images in order, gives sizes as well.
// Errors: as parse_chat_request; kInvalidArgument for an unknown kwarg.
[[nodiscard]] Result<ChatRequest> parse_render_line(std::string_view line);

}  // namespace daybreak::chat
