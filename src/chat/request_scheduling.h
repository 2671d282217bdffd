// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a request says of its place among others: whose prompts it may share what was computed with,
// and how late it may start. No part of the answer.

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Reads cache_salt, priority and service_tier. Errors: as parse_chat_request().
Status read_scheduling(const Field& root, const ChatLimits& limits, ChatRequest& request);

}  // namespace daybreak::chat
