// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handler of a chat protocol: see run_call.h.

#include "api/chat_call.h"
#include "api/context.h"
#include "http/exchange.h"

namespace daybreak::api {

// The context must outlive the returned handler's coroutines.
[[nodiscard]] http::Handler chat_handler(Context& context, ChatProtocol protocol);

}  // namespace daybreak::api
