// SPDX-License-Identifier: Apache-2.0
#include "chat/tool_call_id.h"

#include <algorithm>
#include <charconv>

namespace daybreak::chat {
namespace {

constexpr std::size_t kMaxNumberDigits = 18;
constexpr std::string_view kDigits = "0123456789";

bool plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '-';
}

// The number an id ends with, such as 3 of "get_time_3", "get_time:3" and "3".
std::optional<std::uint64_t> number_of(std::string_view id) {
  const std::size_t last = id.find_last_not_of(kDigits);
  const std::string_view digits = id.substr(last == std::string_view::npos ? 0 : last + 1);
  if (digits.empty() || digits.size() > kMaxNumberDigits) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

std::string make_tool_call_id(const RandomBits& random) {
  static constexpr std::string_view kAlphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string id = "call_";
  std::uint64_t bits = 0;
  unsigned left = 0;
  while (id.size() < kToolCallIdBytes) {
    if (left < 6) {
      bits = random();
      left = 64;
    }
    const std::size_t pick = bits & 63;
    bits >>= 6;
    left -= 6;
    if (pick < kAlphabet.size()) {  // refuse 62 and 63, so that every character is as likely
      id += kAlphabet[pick];
    }
  }
  return id;
}

std::string make_completion_id(const RandomBits& random) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  static constexpr std::size_t kHexDigits = 24;
  std::string id = "chatcmpl-";
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kHexDigits; ++i) {
    bits = i % 16 == 0 ? random() : bits >> 4;
    id += kHex[bits & 15];
  }
  return id;
}

std::string make_vendor_tool_call_id(std::string_view name, std::uint64_t number) {
  const std::string suffix = "_" + std::to_string(number);
  std::string id(name.substr(0, kMaxVendorIdBytes - suffix.size()));
  std::ranges::replace_if(id, [](char c) { return !plain(c); }, '_');
  return id + suffix;
}

std::uint64_t next_call_number(std::span<const Message> history) {
  std::uint64_t next = 0;
  const auto see = [&next](std::string_view id) {
    if (const auto number = number_of(id)) {
      next = std::max(next, *number + 1);
    }
  };
  for (const Message& message : history) {
    see(message.tool_call_id);
    for (const ToolCall& call : message.tool_calls) {
      see(call.id);
    }
  }
  return next;
}

std::string ToolCallIds::make(std::string_view name) {
  return next_number_ ? make_vendor_tool_call_id(name, (*next_number_)++)
                      : make_tool_call_id(random_);
}

}  // namespace daybreak::chat
