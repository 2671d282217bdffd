// SPDX-License-Identifier: Apache-2.0
#pragma once

// POST /v1/responses: OpenAI's Responses protocol. docs/responses.md says what is honoured.

#include "api/chat_call.h"

namespace daybreak::api {

[[nodiscard]] ChatProtocol openai_responses();

}  // namespace daybreak::api
