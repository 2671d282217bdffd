// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out where a text stops being JSON. The fast parser only says that it does; a user with a
// hand-edited config wants the field and the byte. Runs after a failure, so speed does not matter.

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace daybreak {

// Returns kInvalidArgument "a.b[3]: WHY (byte N)". `fallback` is the fast parser's reason, used
// when this slower reading finds nothing wrong. REQUIRES: `text` was refused by a JSON parser whose
// nesting limit is `max_depth`.
[[nodiscard]] Error json_fault(std::string_view text, std::size_t max_depth,
                               std::string_view fallback);

}  // namespace daybreak
