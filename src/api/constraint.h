// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the rules of a request to the constraint of its answers.

#include "api/context.h"
#include "api/prepare.h"
#include "engine/token_constraint.h"
#include "http/exchange.h"

namespace daybreak::api {

// Waits, on the exchange's strand and without holding a thread, until the grammar of `chat` is
// compiled. An empty factory if the request asks for nothing. Notes the time in the access log.
// Errors: kInvalidArgument naming the field (and tool) of the request; kResourceLimit (too many
// wait for a grammar), kUnavailable (shutting down), kCancelled (the client left).
http::Task<Result<engine::ConstraintFactory>> compile_constraint(Context& context,
                                                                 http::Exchange& exchange,
                                                                 const PreparedChat& chat);

}  // namespace daybreak::api
