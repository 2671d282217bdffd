// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names for tool calls. They are random, never derived from position or history: ids that repeat
// within a conversation make clients pair a result with the wrong call.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace daybreak::chat {

inline constexpr std::size_t kToolCallIdBytes = 29;

// Returns "call_" and 24 characters of [0-9A-Za-z], about 142 bits from `random`, which gives 64
// uniform bits per call.
[[nodiscard]] std::string make_tool_call_id(const std::function<std::uint64_t()>& random);

}  // namespace daybreak::chat
