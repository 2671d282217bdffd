// SPDX-License-Identifier: Apache-2.0
#include "chat/tool_call_id.h"

#include <string_view>

namespace daybreak::chat {

std::string make_tool_call_id(const std::function<std::uint64_t()>& random) {
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

}  // namespace daybreak::chat
