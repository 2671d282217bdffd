// SPDX-License-Identifier: Apache-2.0
#pragma once

// POST /v1/completions: OpenAI's legacy completions with vLLM's additions. Raw text or ids in, raw
// text out, nothing rendered and nothing parsed.

#include "api/context.h"
#include "http/exchange.h"

namespace daybreak::api {

// The context must outlive the returned handler's coroutines.
[[nodiscard]] http::Handler completion_handler(Context& context);

}  // namespace daybreak::api
