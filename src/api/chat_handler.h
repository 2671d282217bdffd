// SPDX-License-Identifier: Apache-2.0
#pragma once

// POST /v1/chat/completions: parse and render on a worker, submit, then answer whole or as a
// stream. A client that leaves, at any point, stops the generator within one step.

#include "api/context.h"
#include "http/exchange.h"

namespace daybreak::api {

// The context must outlive the returned handler's coroutines.
[[nodiscard]] http::Handler chat_handler(Context& context);

}  // namespace daybreak::api
