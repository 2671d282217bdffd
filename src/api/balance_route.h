// SPDX-License-Identifier: Apache-2.0
#pragma once

// GET /v1/users/me/balance, by which clients of Moonshot's API ask what their key has left.

#include "api/context.h"
#include "http/router.h"

namespace daybreak::api {

// The context must outlive the handlers.
void add_balance_route(http::Router& router, Context& context);

}  // namespace daybreak::api
