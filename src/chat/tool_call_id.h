// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names for tool calls and for replies. Ids that repeat within a conversation make clients pair a
// result with the wrong call, so none is ever derived from a position or from the length of the
// history: a client may have trimmed it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "chat/chat_request.h"

namespace daybreak::chat {

inline constexpr std::size_t kToolCallIdBytes = 29;
inline constexpr std::size_t kMaxVendorIdBytes = 64;

// Gives 64 uniform bits per call.
using RandomBits = std::function<std::uint64_t()>;

// Returns "call_" and 24 characters of [0-9A-Za-z], about 142 bits of `random`.
[[nodiscard]] std::string make_tool_call_id(const RandomBits& random);

// Returns "chatcmpl-" and 24 hexadecimal digits, 96 bits of `random`.
[[nodiscard]] std::string make_completion_id(const RandomBits& random);

// Returns "NAME_NUMBER" as the vendor's API spells it: characters of [A-Za-z0-9_-] (others become
// '_'), at most 64 bytes, of which the number keeps all of its own.
[[nodiscard]] std::string make_vendor_tool_call_id(std::string_view name, std::uint64_t number);

// Returns the number of the next call by the vendor's rule: one more than the highest with which an
// id in the history ends (of calls and results, whoever made them), 0 when none does. So the next
// ids differ from all of them. Numbers of more than 18 digits are nobody's count and are passed
// over; only a history that was made up to reach them could see an id twice.
[[nodiscard]] std::uint64_t next_call_number(std::span<const Message> history);

// The ids of one answer's calls, in order: random, or numbered from `first_number` where given.
// Not thread-safe.
class ToolCallIds {
 public:
  ToolCallIds(RandomBits random, std::optional<std::uint64_t> first_number)
      : random_(std::move(random)), next_number_(first_number) {}

  // REQUIRES: `random` unless the ids are numbered.
  [[nodiscard]] std::string make(std::string_view name);

 private:
  RandomBits random_;
  std::optional<std::uint64_t> next_number_;
};

}  // namespace daybreak::chat
