// SPDX-License-Identifier: Apache-2.0
#include "chat/request_scheduling.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "chat/known_members.h"

namespace daybreak::chat {

Status read_scheduling(const Field& root, const ChatLimits& limits, ChatRequest& request) {
  if (const auto field = root.find("cache_salt")) {
    DAYBREAK_TRY(request.cache_salt, field->string(limits.max_id_bytes));
    // An empty salt would be no salt, which is not what was asked for.
    if (request.cache_salt.empty()) {
      return field->expected("a string that is not empty");
    }
  }
  // Lower numbers start earlier there; how early a key may start is not the request's to say.
  if (const auto field = root.find("priority")) {
    DAYBREAK_TRY(const std::int64_t priority, field->signed_integer());
    request.deferral = static_cast<int>(std::clamp<std::int64_t>(priority, 0, kMaxDeferral));
  }
  if (const auto field = root.find("service_tier")) {
    DAYBREAK_TRY(const std::string tier, field->string(limits.max_name_bytes));
    if (tier == "flex") {
      request.deferral = kMaxDeferral;
    } else if (tier != "auto" && tier != "default") {
      add_ignored(request.ignored_fields, "service_tier");
    }
  }
  return ok();
}

}  // namespace daybreak::chat
