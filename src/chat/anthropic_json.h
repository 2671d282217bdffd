// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JSON of replies in Anthropic's shape: messages, the events of a stream, error bodies. Every
// function writes valid UTF-8, whatever bytes a token holds. Pure, thread-safe.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/anthropic_content.h"
#include "chat/response_json.h"

namespace daybreak::chat {

// The signature of every thinking block. It says nothing, but clients drop unsigned thinking from
// the history, which the model wants back.
inline constexpr std::string_view kThinkingSignature = "daybreak";

struct AnthropicHead {
  std::string id;  // "msg_..."
  std::string model;
};

// How an answer ended.
struct AnthropicStop {
  std::string_view finish_reason;  // as chat::finish_reason() has it
  std::string_view stop_sequence;  // the stop string that was found, empty without one
};

// Returns "end_turn", "tool_use", "max_tokens" or "stop_sequence".
[[nodiscard]] std::string_view anthropic_stop_reason(const AnthropicStop& stop);

// The whole message. Arguments that are no JSON object (a call that was cut, or raw text of the
// model) become {"INVALID_JSON":"TEXT"}: nothing that could be taken for the model's input.
[[nodiscard]] std::string anthropic_message_json(const AnthropicHead& head,
                                                 std::span<const ContentBlock> blocks,
                                                 const AnthropicStop& stop,
                                                 const TokenUsage& usage);

// Appends "event: TYPE\ndata: JSON\n\n". Each of the following appends whole events.
void append_anthropic_event(std::string& out, std::string_view type, std::string_view json);
void append_message_start(std::string& out, const AnthropicHead& head, const TokenUsage& usage);
// content_block_start, _delta or _stop; before the stop of a thinking block its signature_delta.
void append_block_event(std::string& out, const BlockStep& step);
void append_ping(std::string& out);
// message_delta and message_stop.
void append_message_end(std::string& out, const AnthropicStop& stop, const TokenUsage& usage);

// {"input_tokens":N}
[[nodiscard]] std::string anthropic_count_json(std::size_t tokens);

// {"type":"error","error":{"type","message"},"request_id"}
[[nodiscard]] std::string anthropic_error_json(const Error& error, std::string_view request_id);

// Returns the `type` of an error, such as "invalid_request_error".
[[nodiscard]] std::string_view anthropic_error_type(Errc code);

}  // namespace daybreak::chat
