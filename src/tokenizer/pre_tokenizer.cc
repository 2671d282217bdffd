// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/pre_tokenizer.h"

#include <optional>

#include "base/utf8.h"
#include "tokenizer/char_class.h"

namespace daybreak::tokenizer {
namespace {

// One character of the text: its class and where the next one starts.
struct Char {
  CharClass bits;
  std::size_t end;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t piece_end(std::size_t begin) const {
    const Char first = at(begin);
    if ((first.bits & kHan) != 0) {
      return skip(first.end, kHan);  // alternative 1
    }
    if (const auto end = word_end(begin, first)) {
      return *end;  // alternatives 2 and 3
    }
    if ((first.bits & kNumber) != 0) {
      return number_end(first);  // alternative 4
    }
    if (const auto end = symbols_end(begin)) {
      return *end;  // alternative 5
    }
    return space_end(begin, first);  // alternatives 6 to 8
  }

 private:
  static constexpr CharClass kWord = kLetter | kNumber;

  Char at(std::size_t i) const {
    const auto byte = static_cast<unsigned char>(text_[i]);
    if (byte < 0x80) {
      return {kAsciiClasses[byte], i + 1};
    }
    const CodePoint c = valid_code_point(text_, i);
    return {table_class(c.value), i + c.length};
  }

  bool is_newline(std::size_t i) const { return text_[i] == '\r' || text_[i] == '\n'; }

  // Returns the end of the run of characters that have any of `bits`.
  std::size_t skip(std::size_t i, CharClass bits) const {
    while (i < text_.size()) {
      const Char c = at(i);
      if ((c.bits & bits) == 0) {
        break;
      }
      i = c.end;
    }
    return i;
  }

  // Alternatives 2 and 3, each first with the optional leading character and then without it. That
  // order matters for marks, which can be the leading character and belong to U and L as well.
  std::optional<std::size_t> word_end(std::size_t begin, Char first) const {
    const bool may_lead = (first.bits & kWord) == 0 && !is_newline(begin);
    const bool may_start = (first.bits & (kUpper | kLower)) != 0;
    if (may_lead) {
      if (const auto end = lower_word_end(first.end)) {
        return end;
      }
    }
    if (may_start) {
      if (const auto end = lower_word_end(begin)) {
        return end;
      }
    }
    if (may_lead) {
      if (const auto end = upper_word_end(first.end)) {
        return end;
      }
    }
    return may_start ? upper_word_end(begin) : std::nullopt;
  }

  // U* L+ C?. U* takes all it can, then gives back until an L follows: if the run of U is not
  // followed by an L, the match ends after the last character of the run that is an L as well.
  std::optional<std::size_t> lower_word_end(std::size_t i) const {
    std::optional<std::size_t> last_shared_end;
    while (i < text_.size()) {
      const Char c = at(i);
      if ((c.bits & kUpper) == 0) {
        if ((c.bits & kLower) != 0) {
          return contraction_end(skip(c.end, kLower));
        }
        break;
      }
      if ((c.bits & kLower) != 0) {
        last_shared_end = c.end;
      }
      i = c.end;
    }
    if (!last_shared_end) {
      return std::nullopt;
    }
    return contraction_end(*last_shared_end);
  }

  // U+ L* C?. Nothing has to be given back.
  std::optional<std::size_t> upper_word_end(std::size_t i) const {
    const std::size_t upper_end = skip(i, kUpper);
    if (upper_end == i) {
      return std::nullopt;
    }
    return contraction_end(skip(upper_end, kLower));
  }

  // C?. Returns `i` where there is no contraction.
  std::size_t contraction_end(std::size_t i) const {
    if (i + 1 >= text_.size() || text_[i] != '\'') {
      return i;
    }
    const auto lower = [&](std::size_t at) { return static_cast<char>(text_[at] | 0x20); };
    switch (lower(i + 1)) {
      case 's':
      case 't':
      case 'm':
      case 'd':
        return i + 2;
      default:
        break;
    }
    if (i + 2 >= text_.size()) {
      return i;
    }
    if (text_.substr(i + 1, 2) == "\xC5\xBF") {  // U+017F, whose simple case folding is s
      return i + 3;
    }
    const char second = lower(i + 2);
    switch (lower(i + 1)) {
      case 'r':
      case 'v':
        return second == 'e' ? i + 3 : i;
      case 'l':
        return second == 'l' ? i + 3 : i;
      default:
        return i;
    }
  }

  std::size_t number_end(Char first) const {
    std::size_t end = first.end;
    for (int digits = 1; digits < 3 && end < text_.size(); ++digits) {
      const Char c = at(end);
      if ((c.bits & kNumber) == 0) {
        break;
      }
      end = c.end;
    }
    return end;
  }

  std::optional<std::size_t> symbols_end(std::size_t begin) const {
    const std::size_t symbols = begin + (text_[begin] == ' ' ? 1 : 0);
    std::size_t end = symbols;
    while (end < text_.size()) {
      const Char c = at(end);
      if ((c.bits & (kWord | kSpace)) != 0) {
        break;
      }
      end = c.end;
    }
    if (end == symbols) {
      return std::nullopt;
    }
    while (end < text_.size() && is_newline(end)) {
      ++end;
    }
    return end;
  }

  // A run of whitespace ends after its last line break if it has one; otherwise it leaves its last
  // character to whatever follows, if anything does and if one remains.
  std::size_t space_end(std::size_t begin, Char first) const {
    std::size_t last_start = begin;
    std::size_t end = first.end;
    std::size_t newline_end = is_newline(begin) ? end : begin;
    while (end < text_.size()) {
      const Char c = at(end);
      if ((c.bits & kSpace) == 0) {
        break;
      }
      last_start = end;
      newline_end = is_newline(end) ? c.end : newline_end;
      end = c.end;
    }
    if (newline_end != begin) {
      return newline_end;
    }
    return end == text_.size() || last_start == begin ? end : last_start;
  }

  std::string_view text_;
};

}  // namespace

std::size_t piece_end(std::string_view text, std::size_t begin) {
  return Scanner(text).piece_end(begin);
}

}  // namespace daybreak::tokenizer
