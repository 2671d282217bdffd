// SPDX-License-Identifier: Apache-2.0
#pragma once

// POST /v1/chat/completions: OpenAI's chat protocol.

#include "api/chat_call.h"

namespace daybreak::api {

[[nodiscard]] ChatProtocol openai_chat();

}  // namespace daybreak::api
