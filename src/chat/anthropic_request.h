// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of Anthropic's POST /v1/messages as a ChatRequest: the one form every protocol's request
// is rendered and answered from. docs/anthropic.md has the mapping.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/chat_request.h"

namespace daybreak::chat {

enum class AnthropicCall : std::uint8_t {
  kMessages,
  kCountTokens,  // max_tokens is not required
};

struct AnthropicRequest {
  ChatRequest chat;
  // thinking.display is not "omitted": thinking blocks hold the reasoning.
  bool show_thinking = true;
  // Path of the first image block, empty without one. The messages of `chat` are not numbered as
  // those of the client.
  std::string first_image;
};

// Parses and validates. Pure, thread-safe.
// Errors: kInvalidArgument, message "PATH: expected ..., found ..." with a path of the request as
// sent, such as messages[3].content[0].tool_use_id.
[[nodiscard]] Result<AnthropicRequest> parse_anthropic_request(std::string_view json,
                                                               AnthropicCall call,
                                                               const ChatLimits& limits = {});

}  // namespace daybreak::chat
