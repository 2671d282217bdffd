// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tool calls of the history and the results that answer them, as the prompt shows them.

#include <cstddef>
#include <map>
#include <optional>
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

// One tool message with the name and the index it is shown under.
struct ToolResult {
  const Message* message = nullptr;
  std::size_t position = 0;  // in the request, for messages
  std::string tool;
  std::size_t index = 0;  // from 1, since the assistant message
};

// The calls of a conversation, in the order it is rendered, and which of them have an answer: what
// gives tool results their names. A result answers the nearest message that has a call of its id;
// calls of one message that share an id are answered in their order.
class CallHistory {
 public:
  // An assistant message with `calls`, which must outlive this.
  void add(std::span<const ToolCall> calls);

  // Names the tool messages of `run`, which stand in the request from `first_position` on. If each
  // answers a call of the last assistant message, they are put into the order of the calls;
  // otherwise they stay as sent. A result whose id is no call's is named by its own field `tool` or
  // `name`, else by the call at its place, unless that has an answer.
  // Errors: kInvalidArgument for a result that no rule gives a name: never a guess among names.
  [[nodiscard]] Result<std::vector<ToolResult>> name_results(std::span<const Message> run,
                                                             std::size_t first_position);

 private:
  struct Call {
    const ToolCall* call = nullptr;
    std::size_t message_begin = 0;  // of calls_: the first call of the same message
    bool answered = false;
  };

  std::optional<std::size_t> answer(std::string_view id);
  std::string own_or_placed_name(const Message& message, std::size_t place);

  std::vector<Call> calls_;
  std::map<std::string_view, std::vector<std::size_t>> by_id_;  // places in calls_, ascending
  std::size_t last_begin_ = 0;  // of calls_: the first call of the last assistant message
  std::size_t shown_ = 0;       // results since that message
};

}  // namespace daybreak::chat
