// SPDX-License-Identifier: Apache-2.0
#pragma once

// The conversation of a request.

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Reads the array of messages. `names` as in read_tools. Histories are taken as clients send them:
// missing or null content and reasoning are empty, ids are opaque, unknown fields are skipped
// (known_members.h lists them). Errors: kInvalidArgument, also for calls, reasoning and `partial`
// in a message that is not the assistant's.
[[nodiscard]] Result<std::vector<Message>> read_messages(const Field& field,
                                                         const ChatLimits& limits,
                                                         std::set<std::string, std::less<>>& names);

}  // namespace daybreak::chat
