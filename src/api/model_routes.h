// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names under which the model is served, to callers who may use them: GET /v1/models and
// /v1/models/NAME in the shape of OpenAI or of Anthropic, as the request has it, and
// /anthropic/v1/models in that of Anthropic.

#include "api/context.h"
#include "http/router.h"

namespace daybreak::api {

// The context must outlive the handlers.
void add_model_routes(http::Router& router, Context& context);

}  // namespace daybreak::api
