// SPDX-License-Identifier: Apache-2.0
#pragma once

// POST /v1/responses and /v1/responses/input_tokens: OpenAI's Responses protocol. docs/responses.md
// says what is honoured.

#include "api/chat_call.h"
#include "http/exchange.h"

namespace daybreak::api {

[[nodiscard]] ChatProtocol openai_responses();

// Answers with the prompt tokens that the same request to /v1/responses would be billed for,
// whether or not its answer would fit. The context must outlive the handler's coroutines.
[[nodiscard]] http::Handler input_tokens_handler(Context& context);

}  // namespace daybreak::api
