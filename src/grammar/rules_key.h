// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rules as one string of bytes, for caches.

#include <string>

#include "grammar/message_rules.h"

namespace daybreak::grammar {

// Returns a string that two rules share iff they are equal.
[[nodiscard]] std::string rules_key(const MessageRules& rules);

}  // namespace daybreak::grammar
