// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tool calls of the history and the results that answer them, as the prompt shows them.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/render.h"
#include "chat/segment_writer.h"

namespace daybreak::chat {

// Whether `text` is empty or only white space, by Python's str.isspace. REQUIRES: valid UTF-8.
[[nodiscard]] bool is_blank(std::string_view text);

// Writes one call element; `index` counts from 1. An object becomes one element per argument, blank
// text or null none, anything else (broken JSON, arrays) a single `json` element with the raw text.
void render_tool_call(SegmentWriter& writer, const ToolCall& call, std::size_t index,
                      ArgumentSpelling spelling);

// One tool message with the name and position it is shown under.
struct ToolResult {
  const Message* message = nullptr;
  std::size_t position = 0;  // in the request, for messages
  std::string tool;
};

// Orders a run of consecutive tool messages. If every one answers a call of `calls` (by id, first
// occurrence wins), they are sorted by the calls' order; otherwise they stay as sent.
// `first_position` is the place of run[0] in the request; `results_before` counts the results
// already shown since the assistant message.
// Errors: kInvalidArgument for a result that no rule gives a name.
[[nodiscard]] Result<std::vector<ToolResult>> order_tool_results(std::span<const Message> run,
                                                                 std::size_t first_position,
                                                                 std::span<const ToolCall> calls,
                                                                 std::size_t results_before);

}  // namespace daybreak::chat
