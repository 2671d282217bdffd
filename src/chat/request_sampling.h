// SPDX-License-Identifier: Apache-2.0
#pragma once

// The decoding options of a request.

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Reads every field of SamplingOptions from the request's top level. Errors: kInvalidArgument.
[[nodiscard]] Result<SamplingOptions> read_sampling(const Field& root, const ChatLimits& limits);

}  // namespace daybreak::chat
