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
// has it. The model knows three efforts; the API's five and its budgets are taken so:
//   effort         low -> low, medium and high -> high, xhigh and max -> max
//   budget_tokens  (without an effort) below 8,192 -> low, below 24,576 -> high, else max
// Errors: kInvalidArgument.
[[nodiscard]] Result<AnthropicThinking> read_anthropic_thinking(const Field& root);

}  // namespace daybreak::chat
