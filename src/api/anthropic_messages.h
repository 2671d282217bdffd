// SPDX-License-Identifier: Apache-2.0
#pragma once

// Anthropic's Messages API: POST /v1/messages and /v1/messages/count_tokens, both also below
// /anthropic, where clients of the hosted API look for them.

#include "api/chat_call.h"
#include "api/context.h"
#include "http/router.h"

namespace daybreak::api {

[[nodiscard]] ChatProtocol anthropic_messages();

// Adds the routes. `context` must outlive the router.
void add_anthropic_routes(http::Router& router, Context& context);

}  // namespace daybreak::api
