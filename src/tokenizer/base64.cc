// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace daybreak::tokenizer {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}();

}  // namespace

bool append_base64_decoded(std::string_view text, std::string& out) {
  if (text.size() % 4 != 0) {
    return false;
  }
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::string_view group = text.substr(at, 4);
    if (at + 4 == text.size()) {
      group = group.substr(0, group.find('='));
      const std::string_view padding = text.substr(at + group.size());
      if (group.size() < 2 || std::ranges::any_of(padding, [](char c) { return c != '='; })) {
        return false;
      }
    }
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t digit =
          i < group.size() ? kDigits[static_cast<unsigned char>(group[i])] : std::uint8_t{0};
      if (digit == kNoDigit) {
        return false;
      }
      bits = bits << 6 | digit;
    }
    const std::size_t bytes = group.size() - 1;
    if ((bits & (std::uint32_t{0xFFFFFF} >> (8 * bytes))) != 0) {
      return false;  // a second spelling of the same bytes
    }
    for (std::size_t i = 0; i < bytes; ++i) {
      out.push_back(static_cast<char>(bits >> (16 - 8 * i)));
    }
  }
  return true;
}

}  // namespace daybreak::tokenizer
