// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the service knows of a route by its path or pattern: the key it needs, and whose protocol it
// speaks.

#include <optional>
#include <string_view>

#include "access/scope.h"
#include "http/message.h"

namespace daybreak::api {

// Returns the scope of the key that a route needs; nothing if it needs none. Whatever is not open
// needs one, so that a new route cannot be left unguarded by mistake.
[[nodiscard]] std::optional<access::Scope> scope_of(std::string_view pattern);

// Whether a path or pattern is one of Anthropic's protocol alone.
[[nodiscard]] bool is_anthropic(std::string_view path);

// Whether a request expects Anthropic's answers: by its path, or by a header where both protocols
// have the path.
[[nodiscard]] bool speaks_anthropic(const http::Request& request);

}  // namespace daybreak::api
