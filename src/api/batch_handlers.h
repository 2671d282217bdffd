// SPDX-License-Identifier: Apache-2.0
#pragma once

// What answers the requests of a batch: the very handlers that answer clients.

#include "api/batch_run.h"
#include "api/context.h"

namespace daybreak::api {

// Returns a handler for each url that can be batched. The context must outlive them.
[[nodiscard]] BatchRun::Handlers generation_handlers(Context& context);

}  // namespace daybreak::api
