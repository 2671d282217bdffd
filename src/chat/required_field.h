// SPDX-License-Identifier: Apache-2.0
#pragma once

// Members of a request's objects that must be there.

#include <string_view>

#include "base/result.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Returns "PATH.KEY: expected WHAT, found nothing".
[[nodiscard]] Error missing_field(const Field& owner, std::string_view key, std::string_view what);
// Returns the member `key`. Errors: missing_field() where it is absent or null.
[[nodiscard]] Result<Field> required_field(const Field& owner, std::string_view key,
                                           std::string_view what);

}  // namespace daybreak::chat
