// SPDX-License-Identifier: Apache-2.0
#pragma once

// The routes that tell about the server: models, health, readiness, metrics, version,
// and what it can be asked (OpenAPI).

#include "api/context.h"
#include "http/router.h"

namespace daybreak::api {

// Adds GET /v1/models, /v1/models/{model}, /health, /ready, /ping, /openapi.json, /metrics and
// /version.
void add_status_routes(http::Router& router, Context& context);

}  // namespace daybreak::api
