// SPDX-License-Identifier: Apache-2.0
#include "access/key_text.h"

#include <algorithm>
#include <array>

#include "access/crypto.h"

namespace daybreak::access {
namespace {

constexpr std::string_view kAlphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static_assert(kAlphabet.size() == 62);

}  // namespace

Result<std::string> generate_key_text() {
  // Bytes from 248 on are drawn again: 256 is no multiple of 62, and all characters must be
  // equally probable.
  constexpr std::size_t kUsable = 256 / kAlphabet.size() * kAlphabet.size();
  std::string out(kKeyTextStart);
  while (out.size() < kKeyTextBytes) {
    std::array<unsigned char, 64> bytes{};
    DAYBREAK_CHECK_OK(random_bytes(bytes));
    for (const unsigned char byte : bytes) {
      if (byte < kUsable && out.size() < kKeyTextBytes) {
        out += kAlphabet[byte % kAlphabet.size()];
      }
    }
  }
  return out;
}

bool is_key_text(std::string_view text) {
  return text.size() == kKeyTextBytes && text.starts_with(kKeyTextStart) &&
         std::ranges::all_of(text.substr(kKeyTextStart.size()), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

}  // namespace daybreak::access
