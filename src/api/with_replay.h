// SPDX-License-Identifier: Apache-2.0
#pragma once

// Idempotent retries, for every protocol in one place: a client whose time-out was shorter than its
// prompt, and that asks again, gets the answer that is being made for it already.
//
// It says that it may ask again with the header Idempotency-Key, which names the call, or with
// x-stainless-retry-count, which the SDKs of OpenAI and Anthropic send with every request (0 the
// first time). Then a call outlives its client by ReplayOptions::grace; all others end with theirs.

#include <functional>

#include "api/context.h"
#include "api/reply.h"
#include "http/exchange.h"

namespace daybreak::api {

// Lets `handler` answer calls that are not streamed for everybody who asks for the same one: see
// ReplayStore. An answer that was made for an earlier request says so: "Idempotent-Replayed: true".
// Only a 200 is given to others: after an error each makes its own try. `refusal` writes the errors
// of the headers. The context must outlive the handler's coroutines.
[[nodiscard]] http::Handler with_replay(Context& context, RefuseFn refusal, http::Handler handler);

}  // namespace daybreak::api
