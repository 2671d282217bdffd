// SPDX-License-Identifier: Apache-2.0
#pragma once

// Symbols that stand for the classes of the pattern, with their Unicode properties written down by
// hand, and the comparison of the scanner with the pattern over them. Test code only.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/reference_regex.h"

namespace daybreak::tokenizer {
namespace reference {

// One symbol for each class that the pattern can tell apart without contractions.
inline constexpr std::array<Symbol, 14> kClassSymbols = {{
    {'\r', "Cc", false, true},
    {'\n', "Cc", false, true},
    {' ', "Zs", false, true},
    {'\t', "Cc", false, true},
    {'A', "Lu", false, false},
    {'a', "Ll", false, false},
    {0x05D0, "Lo", false, false},
    {0x0301, "Mn", false, false},
    {'1', "Nd", false, false},
    {0x4F60, "Lo", true, false},
    {0x3007, "Nl", true, false},
    {0x2E80, "So", true, false},
    {'\'', "Po", false, false},
    {'!', "Po", false, false},
}};

// The letters of the contractions, the long s, and what may stand before and after them.
inline constexpr std::array<Symbol, 24> kContractionSymbols = {{
    {'s', "Ll", false, false},    {'t', "Ll", false, false},    {'r', "Ll", false, false},
    {'e', "Ll", false, false},    {'v', "Ll", false, false},    {'m', "Ll", false, false},
    {'l', "Ll", false, false},    {'d', "Ll", false, false},    {'S', "Lu", false, false},
    {'R', "Lu", false, false},    {'E', "Lu", false, false},    {'L', "Lu", false, false},
    {'D', "Lu", false, false},    {0x017F, "Ll", false, false}, {0x212A, "Lu", false, false},
    {'\'', "Po", false, false},   {0x2019, "Pf", false, false}, {'b', "Ll", false, false},
    {0x05D0, "Lo", false, false}, {0x0301, "Mn", false, false}, {' ', "Zs", false, true},
    {'\n', "Cc", false, true},    {'7', "Nd", false, false},    {0x4F60, "Lo", true, false},
}};

// Members of the same classes that are easily filed under another.
inline constexpr std::array<Symbol, 20> kRareSymbols = {{
    {0x01C5, "Lt", false, false}, {0x02B0, "Lm", false, false},   {0x30FC, "Lm", false, false},
    {0x00AA, "Lo", false, false}, {0x0903, "Mc", false, false},   {0x20DD, "Me", false, false},
    {0x2167, "Nl", false, false}, {0x00BD, "No", false, false},   {0x3005, "Lm", true, false},
    {0x16FF0, "Mc", true, false}, {0x30000, "Lo", true, false},   {0x0085, "Cc", false, true},
    {0x00A0, "Zs", false, true},  {0x2028, "Zl", false, true},    {0x3000, "Zs", false, true},
    {0x200B, "Cf", false, false}, {0x001C, "Cc", false, false},   {0x1F680, "So", false, false},
    {0xFFFD, "So", false, false}, {0x10FFFF, "Cn", false, false},
}};

inline std::string text_of(const std::vector<Symbol>& symbols) {
  std::string text;
  for (const Symbol& symbol : symbols) {
    append_utf8(symbol.code_point, text);
  }
  return text;
}

}  // namespace reference

// Whether the scanner and the pattern find the same first piece.
inline bool first_pieces_agree(const reference::Regex& regex,
                               const std::vector<reference::Symbol>& symbols) {
  const std::size_t end = regex.match(symbols, 0);
  if (end == reference::Regex::npos || end == 0) {
    return false;
  }
  std::size_t expected = 0;
  std::string text;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    append_utf8(symbols[i].code_point, text);
    expected = i + 1 == end ? text.size() : expected;
  }
  return piece_end(text, 0) == expected;
}

// Compares the first piece of every string over `alphabet` of 1 to `max_length` symbols. Later
// pieces follow: a piece depends only on the text from its start on, and all suffixes are covered.
inline void check_all_strings(std::span<const reference::Symbol> alphabet, std::size_t max_length) {
  const reference::Regex regex(reference::kK3Pattern);
  for (std::size_t length = 1; length <= max_length; ++length) {
    std::vector<std::size_t> digits(length, 0);
    std::vector<reference::Symbol> symbols(length, alphabet[0]);
    for (bool more = true; more;) {
      ASSERT_TRUE(first_pieces_agree(regex, symbols)) << reference::text_of(symbols);
      more = false;
      for (std::size_t i = 0; i < length && !more; ++i) {
        digits[i] = (digits[i] + 1) % alphabet.size();
        symbols[i] = alphabet[digits[i]];
        more = digits[i] != 0;
      }
    }
  }
}

}  // namespace daybreak::tokenizer
