// SPDX-License-Identifier: Apache-2.0
#pragma once

// The character classes of the pre-tokenizer's pattern and of the slicer, for Unicode 16.0.

#include <array>
#include <cstdint>

#include "tokenizer/unicode_tables.h"

namespace daybreak::tokenizer {

// A set of class bits. The pattern intersects its letter sets with "not Han", so kUpper and kLower
// never come together with kHan.
using CharClass = std::uint8_t;

inline constexpr CharClass kLetter = 1;  // \p{L}
inline constexpr CharClass kNumber = 2;  // \p{N}
inline constexpr CharClass kSpace = 4;   // \s, that is, White_Space
inline constexpr CharClass kUpper = 8;   // Lu, Lt, Lm, Lo, M, not Han: the head of a word
inline constexpr CharClass kLower = 16;  // Ll, Lm, Lo, M, not Han: the tail of a word
inline constexpr CharClass kHan = 32;    // Script=Han, of any category

// The classes of ASCII, so that the common case is one load. Written out from the definition; a
// test holds it to the table.
inline constexpr std::array<CharClass, 128> kAsciiClasses = [] {
  std::array<CharClass, 128> classes{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) {
    classes[c] = kLetter | kLower;
    classes[c - 'a' + 'A'] = kLetter | kUpper;
  }
  for (std::size_t c = '0'; c <= '9'; ++c) {
    classes[c] = kNumber;
  }
  for (std::size_t c = 0x09; c <= 0x0D; ++c) {
    classes[c] = kSpace;
  }
  classes[0x20] = kSpace;
  return classes;
}();

// Returns the class of a code point from the table. REQUIRES: code_point <= 0x10FFFF.
[[nodiscard]] inline CharClass table_class(std::uint32_t code_point) {
  const std::uint32_t middle = tables::kTop[code_point >> 13] * 64U + (code_point >> 7 & 63);
  const std::uint32_t leaf = tables::kMiddle[middle] * 8U + (code_point >> 4 & 7);
  return tables::kClasses[tables::kLeaves[leaf] >> (code_point & 15) * 4 & 15];
}

// Returns the class of a code point. REQUIRES: code_point <= 0x10FFFF.
[[nodiscard]] inline CharClass char_class(std::uint32_t code_point) {
  return code_point < 128 ? kAsciiClasses[code_point] : table_class(code_point);
}

// Whether Python's str.isspace holds: White_Space and the separators U+001C to U+001F, which the
// pattern's \s does not contain. REQUIRES: code_point <= 0x10FFFF.
[[nodiscard]] inline bool is_python_space(std::uint32_t code_point) {
  return (char_class(code_point) & kSpace) != 0 || (code_point >= 0x1C && code_point <= 0x1F);
}

}  // namespace daybreak::tokenizer
