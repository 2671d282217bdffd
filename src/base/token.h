// SPDX-License-Identifier: Apache-2.0
#pragma once

// The id of one token of a vocabulary. The text of a prompt or an answer is a sequence of these.

#include <cstdint>

namespace daybreak {

using TokenId = std::uint32_t;

}  // namespace daybreak
