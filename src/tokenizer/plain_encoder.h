// SPDX-License-Identifier: Apache-2.0
#pragma once

// The definition of encoding, as plainly as possible and without regard to time: the pattern by a
// backtracking matcher, special tokens by trying each at each place, merging by trying every pair.
// Test code only.

#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "base/utf8.h"
#include "tokenizer/char_class.h"
#include "tokenizer/reference_regex.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/vocabulary.h"

namespace daybreak::tokenizer {

// The definition of merging: strings of bytes, all pairs tried every time.
inline std::vector<TokenId> plain_merge(const Vocabulary& vocabulary, std::string_view piece) {
  std::vector<std::string> parts;
  for (const char byte : piece) {
    parts.emplace_back(1, byte);
  }
  for (;;) {
    TokenId best = Vocabulary::kNone;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const TokenId joined = vocabulary.find(parts[i] + parts[i + 1]);
      if (joined < best) {
        best = joined;
        at = i;
      }
    }
    if (best == Vocabulary::kNone) {
      break;
    }
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<TokenId> ids;
  for (const std::string& part : parts) {
    ids.push_back(vocabulary.find(part));
  }
  return ids;
}

// Returns a code point as the pattern sees it. The class bits tell general categories apart as far
// as the pattern does: Lm and Lo are one to it, and so are all that it never names.
inline reference::Symbol symbol_of(std::uint32_t code_point) {
  const CharClass bits = char_class(code_point);
  const bool upper = (bits & kUpper) != 0;
  const bool lower = (bits & kLower) != 0;
  std::string_view category = "So";
  if ((bits & kLetter) != 0) {
    category = upper == lower ? "Lo" : (upper ? "Lu" : "Ll");
  } else if ((bits & kNumber) != 0) {
    category = "Nd";
  } else if (upper && lower) {
    category = "Mn";
  }
  return {code_point, category, (bits & kHan) != 0, (bits & kSpace) != 0};
}

// Appends the ids of valid UTF-8 without special tokens.
inline void plain_encode_ordinary(const Vocabulary& vocabulary, std::string_view text,
                                  std::vector<TokenId>& ids) {
  static const reference::Regex regex(reference::kK3Pattern);
  std::vector<reference::Symbol> symbols;
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < text.size(); at += valid_code_point(text, at).length) {
    symbols.push_back(symbol_of(valid_code_point(text, at).value));
    offsets.push_back(at);
  }
  offsets.push_back(text.size());
  for (std::size_t begin = 0; begin < symbols.size();) {
    const std::size_t end = regex.match(symbols, begin);
    const std::string_view piece = text.substr(offsets[begin], offsets[end] - offsets[begin]);
    if (const TokenId whole = vocabulary.find(piece); whole != Vocabulary::kNone) {
      ids.push_back(whole);
    } else {
      const std::vector<TokenId> merged = plain_merge(vocabulary, piece);
      ids.insert(ids.end(), merged.begin(), merged.end());
    }
    begin = end;
  }
}

// Returns the ids of valid UTF-8 with special tokens recognised.
inline std::vector<TokenId> plain_encode(const Vocabulary& vocabulary,
                                         const SpecialTokens& specials, std::string_view text) {
  std::vector<TokenId> ids;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    TokenId found = Vocabulary::kNone;
    std::size_t length = 0;
    for (TokenId id = specials.first_id(); specials.contains(id); ++id) {
      const std::string_view spelling = specials.spelling(id);
      if (spelling.size() > length && text.substr(at).starts_with(spelling)) {
        found = id;
        length = spelling.size();
      }
    }
    if (length == 0) {
      ++at;
      continue;
    }
    plain_encode_ordinary(vocabulary, text.substr(start, at - start), ids);
    ids.push_back(found);
    at += length;
    start = at;
  }
  plain_encode_ordinary(vocabulary, text.substr(start), ids);
  return ids;
}

}  // namespace daybreak::tokenizer
