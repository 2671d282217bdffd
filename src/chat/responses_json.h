// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JSON of the Responses API's answers: items, the response object, the events of a stream.
// Every function returns one line of valid UTF-8 without a trailing newline. All are pure and
// thread-safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/response_json.h"
#include "chat/responses_request.h"

namespace daybreak::chat {

enum class ResponsesStatus : std::uint8_t { kInProgress, kCompleted, kIncomplete, kFailed };

// Returns "in_progress", "completed", "incomplete" or "failed".
[[nodiscard]] std::string_view to_string(ResponsesStatus status);

// One item of an answer.
struct ResponsesOutput {
  enum class Kind : std::uint8_t { kReasoning, kMessage, kFunctionCall };
  Kind kind = Kind::kMessage;
  ResponsesStatus status = ResponsesStatus::kInProgress;
  std::string id;                            // "rs_...", "msg_...", "fc_..."
  std::string text;                          // reasoning, content or arguments
  std::string call_id;                       // kFunctionCall
  std::string name;                          // kFunctionCall
  std::vector<TokenLogprobs> logprobs = {};  // kMessage
};

// How much of an item is written.
enum class ItemForm : std::uint8_t {
  kOpened,  // as it is announced: nothing in it yet
  kWhole,
  kSealed,  // whole, and reasoning also as encrypted_content
};
[[nodiscard]] std::string output_item_json(const ResponsesOutput& item, ItemForm form);

// Returns the item as it is kept for later requests: without log-probabilities.
[[nodiscard]] ResponsesItem kept_output(const ResponsesOutput& item);

// {"type":"output_text",...} or {"type":"reasoning_text",...}. REQUIRES: no function call.
[[nodiscard]] std::string content_part_json(const ResponsesOutput& item, ItemForm form);

// What is said about a response at one moment.
struct ResponsesState {
  ResponsesStatus status = ResponsesStatus::kInProgress;
  std::span<const ResponsesOutput> output;
  std::optional<TokenUsage> usage;
  const Error* error = nullptr;  // kFailed
};

// The response object. `head.id` is "resp_...".
[[nodiscard]] std::string response_object_json(const ReplyHead& head,
                                               const ResponsesRequest& request,
                                               const ResponsesState& state);

// Returns the `code` of a failed response's error: "rate_limit_exceeded" or "server_error".
[[nodiscard]] std::string_view failure_code(const Error& error);

// {"type":"error",...}, the event that ends a stream which cannot go on. It has the error twice,
// flat as OpenAI documents it and as an "error" object, which is what its clients look at.
[[nodiscard]] std::string error_event_json(const Error& error, std::uint64_t sequence_number);

}  // namespace daybreak::chat
