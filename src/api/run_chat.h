// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a generating request to its answer, whatever the protocol: parse and render on a worker,
// compile the grammar, submit, then answer whole or as a stream. A client that leaves, at any
// point, stops the generator within one step.

#include "api/chat_call.h"
#include "api/context.h"
#include "http/exchange.h"

namespace daybreak::api {

// The context must outlive the returned handler's coroutines.
[[nodiscard]] http::Handler chat_handler(Context& context, ChatProtocol protocol);

}  // namespace daybreak::api
