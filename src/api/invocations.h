// SPDX-License-Identifier: Apache-2.0
#pragma once

// POST /invocations: the one route that Amazon SageMaker calls. The body says which other route it
// means: one with "messages" is a chat completion, one with "prompt" a completion.

#include "api/context.h"
#include "http/exchange.h"

namespace daybreak::api {

// The context must outlive the returned handler's coroutines.
[[nodiscard]] http::Handler invocations_handler(Context& context, http::Handler chat,
                                                http::Handler completion);

}  // namespace daybreak::api
