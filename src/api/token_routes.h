// SPDX-License-Identifier: Apache-2.0
#pragma once

// The routes that turn text into ids and back, or count them, without generating: what a prompt
// costs and what the model would see.

#include "api/context.h"
#include "http/router.h"

namespace daybreak::api {

// Adds POST /tokenize, /detokenize (vLLM's shapes) and /v1/tokenizers/estimate-token-count
// (Moonshot's). The context must outlive the router's coroutines.
void add_token_routes(http::Router& router, Context& context);

}  // namespace daybreak::api
