// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request of the Responses API: what POST /v1/responses means, as a chat request beside what the
// answer gives back and what is kept of it. Fields and what becomes of them: responses_fields.h.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/responses_item.h"

namespace daybreak::chat {

// Fields that the response repeats, each as JSON on one line.
struct ResponsesEcho {
  std::string instructions = "null";
  std::string max_output_tokens = "null";
  std::string max_tool_calls = "null";
  std::string metadata = "{}";
  std::string previous_response_id = "null";
  std::string prompt_cache_key = "null";
  std::string effort = "null";  // reasoning.effort
  std::string safety_identifier = "null";
  std::string format = R"({"type":"text"})";  // text.format
  std::string tool_choice = "\"auto\"";
  std::string tools = "[]";
  std::string user = "null";
};

struct ResponsesRequest {
  ChatRequest chat;
  std::vector<std::string> sources;        // [chat.messages]: the field each came from
  std::vector<std::string> tool_paths;     // [chat.tools]
  std::vector<ResponsesItemPtr> previous;  // the conversation before this request
  std::vector<ResponsesItemPtr> input;     // this request's own items
  bool store = true;
  bool store_asked = false;       // the request says "store": true itself
  bool sealed_reasoning = false;  // include has "reasoning.encrypted_content"
  ResponsesEcho echo;
};

// Parses and validates the JSON body. Unknown fields, and those that cannot be honoured but change
// nothing, are listed in chat.ignored_fields.
// Errors: kInvalidArgument, message "PATH: expected ..., found ..." with a path such as
// input[3].call_id; those of `history`.
Result<ResponsesRequest> parse_responses_request(std::string_view json,
                                                 const ResponsesHistory& history,
                                                 const ChatLimits& limits = {});

// Returns `text`, a path or a message that starts with one in terms of `request.chat`, in terms of
// the request's own fields: "messages[2].tool_call_id: ..." is "input[4].call_id: ...".
[[nodiscard]] std::string in_responses_terms(std::string_view text,
                                             const ResponsesRequest& request);

}  // namespace daybreak::chat
