// SPDX-License-Identifier: Apache-2.0
#pragma once

// The conversation of an Anthropic Messages request: `system` and `messages`.

#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

struct AnthropicTurns {
  std::vector<Message> messages;
  std::string first_image;  // path of the first image block, empty without one
};

// Reads both members of `root`.
//   assistant  messages in a row are one message; the last one is continued
//   user       tool results come first, each a tool message; then what else was said, one message
//              per message of the client. A message of results alone gives no user message
//   system     also accepted among `messages`
// Errors: kInvalidArgument, also for a tool result that answers no call of the assistant message
// before it.
[[nodiscard]] Result<AnthropicTurns> read_anthropic_turns(const Field& root,
                                                          const ChatLimits& limits);

}  // namespace daybreak::chat
