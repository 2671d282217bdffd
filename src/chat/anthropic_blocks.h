// SPDX-License-Identifier: Apache-2.0
#pragma once

// Content blocks of an Anthropic Messages request, one by one, as content parts.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// The only member of a tool's input that was not an object, by Anthropic's convention; its value is
// the text. anthropic_json.h writes it, so that a client sends it back.
inline constexpr std::string_view kInvalidJsonKey = "INVALID_JSON";

// Returns the `type` of a block. Errors: kInvalidArgument for no object, or without a type.
[[nodiscard]] Result<std::string_view> block_type(const Field& block);

// Reads {"type":"text"}. Errors: kInvalidArgument.
[[nodiscard]] Result<ContentPart> read_text_block(const Field& block);

// Reads {"type":"image"}: a base64 source becomes a data: URL. Errors: kInvalidArgument.
[[nodiscard]] Result<ContentPart> read_image_block(const Field& block);

// Reads a block that is text in another dress: document (sources text and content), search_result,
// tool_reference. Errors: kInvalidArgument, naming the type where there is no text in it.
[[nodiscard]] Result<ContentPart> read_textual_block(const Field& block, std::string_view type,
                                                     const ChatLimits& limits);

// Reads the content of a tool_result: a string or blocks. Blocks of other types than text and image
// never fail: what cannot be read becomes a note with its type. Errors: kInvalidArgument.
[[nodiscard]] Result<std::vector<ContentPart>> read_result_content(const Field& result,
                                                                   const ChatLimits& limits);

// Reads {"type":"tool_use"}: the input's exact bytes are the arguments. Errors: kInvalidArgument.
[[nodiscard]] Result<ToolCall> read_tool_use(const Field& block, const ChatLimits& limits);

}  // namespace daybreak::chat
