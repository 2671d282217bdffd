// SPDX-License-Identifier: Apache-2.0
#pragma once

// What can be asked about kept responses: the response, what it answered, and to forget it.

#include "api/context.h"
#include "api/response_store.h"
#include "base/metrics.h"
#include "http/router.h"

namespace daybreak::api {

// Adds GET and DELETE /v1/responses/{id} and GET /v1/responses/{id}/input_items. The context must
// outlive the router.
void add_response_routes(http::Router& router, Context& context);

void report_responses(MetricsSink& sink, const ResponseStore::Stats& stats);

}  // namespace daybreak::api
