// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much an Anthropic Messages request asks the model to think.

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

struct AnthropicThinking {
  Thinking thinking;
  bool show = true;  // thinking.display is not "omitted"
};

// Reads `thinking` and `output_config.effort`. Neither given: thinking on, effort max, as the model
// has it. An effort is taken as effort_named() says; without one, budget_tokens below 8,192 are
// low, below 24,576 high, else max. Errors: kInvalidArgument.
[[nodiscard]] Result<AnthropicThinking> read_anthropic_thinking(const Field& root);

}  // namespace daybreak::chat
