// SPDX-License-Identifier: Apache-2.0
#pragma once

// GrammarText: a grammar text being read from left to right, with what GBNF and Lark share: blanks,
// comments, escapes, repetition counts, and errors that say line and column.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::grammar {

// "#" everywhere; "//" in Lark as well.
enum class Comments : std::uint8_t { kHash, kHashAndSlashes };

inline constexpr std::uint32_t kMaxRepetitions = 1'000'000;  // the largest number in x{m,n}
inline constexpr int kMaxGroupDepth = 100;                   // groups inside groups

struct RepeatBounds {
  std::uint32_t min = 0;
  std::uint32_t max = 0;  // included; Expression::kNoMax: without end
};

// A view: the text must outlive it.
class GrammarText {
 public:
  // REQUIRES: valid UTF-8.
  GrammarText(std::string_view text, Comments comments) : text_(text), comments_(comments) {}

  [[nodiscard]] std::size_t offset() const { return at_; }
  void seek(std::size_t offset) { at_ = offset; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  // Returns the byte `ahead` places further, or 0 behind the end.
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  // Takes `token` if it comes next. Returns whether it did.
  bool take(std::string_view token);
  // Skips spaces, line ends and comments.
  void skip_blank();
  // Whether only spaces and tabs stand before this place on its line.
  [[nodiscard]] bool at_line_start() const;
  [[nodiscard]] std::string_view since(std::size_t offset) const {
    return text_.substr(offset, at_ - offset);
  }

  // Takes one code point. REQUIRES: !at_end().
  std::uint32_t take_code_point();
  // Takes one code point of a quoted text, an escape or itself. `simple` lists pairs of the
  // character after the backslash and what it stands for; \xHH, \uHHHH (or two of them that are a
  // surrogate pair) and \UHHHHHHHH are known always. Errors: an unknown escape, the end of the
  // line.
  [[nodiscard]] Result<std::uint32_t> take_character(std::string_view simple);
  // Takes a text in double quotes. Errors: as take_character(), or no quote at its end.
  // REQUIRES: a quote comes next.
  [[nodiscard]] Result<std::vector<std::uint32_t>> take_quoted(std::string_view simple);
  // Takes a decimal number. Errors: none there, or above kMaxRepetitions.
  [[nodiscard]] Result<std::uint32_t> take_number();
  // Takes what follows "{": "m}", "m,}", "m,n}" or ",n}".
  [[nodiscard]] Result<RepeatBounds> take_braces();

  // "grammar: line L, column C: expected `what`, found ..." at this place or another one.
  [[nodiscard]] Error expected(std::string_view what) const;
  [[nodiscard]] Error expected(std::string_view what, std::string_view found,
                               std::size_t offset) const;
  // "grammar: line L, column C: `what` is not supported" with kUnsupported.
  [[nodiscard]] Error unsupported(std::string_view what, std::size_t offset) const;
  // "grammar: line L, column C"
  [[nodiscard]] std::string place(std::size_t offset) const;

 private:
  Result<std::uint32_t> take_hex(int digits);
  Result<std::uint32_t> take_unicode_escape(std::size_t start);
  [[nodiscard]] std::string found() const;

  std::string_view text_;
  Comments comments_;
  std::size_t at_ = 0;
};

}  // namespace daybreak::grammar
