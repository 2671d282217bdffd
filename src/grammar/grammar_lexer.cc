// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_lexer.h"

#include <algorithm>

#include "base/utf8.h"
#include "grammar/char_set.h"
#include "grammar/expression.h"

namespace daybreak::grammar {
namespace {

bool is_surrogate(std::uint32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

bool GrammarText::take(std::string_view token) {
  if (!text_.substr(at_).starts_with(token)) {
    return false;
  }
  at_ += token.size();
  return true;
}

void GrammarText::skip_blank() {
  while (!at_end()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at_;
    } else if (c == '#' || (c == '/' && peek(1) == '/' && comments_ == Comments::kHashAndSlashes)) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool GrammarText::at_line_start() const {
  std::size_t at = at_;
  while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) {
    --at;
  }
  return at == 0 || text_[at - 1] == '\n' || text_[at - 1] == '\r';
}

std::uint32_t GrammarText::take_code_point() {
  const CodePoint point = valid_code_point(text_, at_);
  at_ += point.length;
  return point.value;
}

Result<std::uint32_t> GrammarText::take_hex(int digits) {
  std::uint32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const int digit = hex_value(peek());
    if (digit < 0) {
      return expected("a hexadecimal digit");
    }
    value = value * 16 + static_cast<std::uint32_t>(digit);
    ++at_;
  }
  return value;
}

// Behind "\u".
Result<std::uint32_t> GrammarText::take_unicode_escape(std::size_t start) {
  DAYBREAK_TRY(const std::uint32_t high, take_hex(4));
  if (high < 0xD800 || high > 0xDBFF || !take("\\u")) {
    return high;
  }
  DAYBREAK_TRY(const std::uint32_t low, take_hex(4));
  if (low < 0xDC00 || low > 0xDFFF) {
    return expected("a low surrogate after a high one", since(start), start);
  }
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

Result<std::uint32_t> GrammarText::take_character(std::string_view simple) {
  if (at_end() || peek() == '\n' || peek() == '\r') {
    return expected("a character (a line end is written \\n)");
  }
  const std::size_t start = at_;
  if (!take("\\")) {
    return take_code_point();
  }
  std::uint32_t code = 0;
  if (take("x")) {
    DAYBREAK_TRY(code, take_hex(2));
  } else if (take("u")) {
    DAYBREAK_TRY(code, take_unicode_escape(start));
  } else if (take("U")) {
    DAYBREAK_TRY(code, take_hex(8));
  } else {
    for (std::size_t i = 0; i + 1 < simple.size(); i += 2) {
      if (!at_end() && peek() == simple[i]) {
        ++at_;
        return static_cast<unsigned char>(simple[i + 1]);
      }
    }
    return expected("an escape that this notation knows");
  }
  if (code > kMaxCodePoint || is_surrogate(code)) {
    return expected("a Unicode character", since(start), start);
  }
  return code;
}

Result<std::vector<std::uint32_t>> GrammarText::take_quoted(std::string_view simple) {
  take("\"");
  std::vector<std::uint32_t> codes;
  while (!take("\"")) {
    if (at_end()) {
      return expected("'\"' at the end of the string");
    }
    DAYBREAK_TRY(const std::uint32_t code, take_character(simple));
    codes.push_back(code);
  }
  return codes;
}

Result<std::uint32_t> GrammarText::take_number() {
  const std::size_t start = at_;
  std::uint32_t value = 0;
  while (peek() >= '0' && peek() <= '9') {
    value = value * 10 + static_cast<std::uint32_t>(peek() - '0');
    ++at_;
    if (value > kMaxRepetitions) {
      return expected("a number of at most " + std::to_string(kMaxRepetitions), "a larger one",
                      start);
    }
  }
  if (at_ == start) {
    return expected("a number");
  }
  return value;
}

Result<RepeatBounds> GrammarText::take_braces() {
  const std::size_t start = at_;
  RepeatBounds bounds;
  skip_blank();
  const bool has_min = peek() != ',';
  if (has_min) {
    DAYBREAK_TRY(bounds.min, take_number());
    skip_blank();
  }
  bounds.max = bounds.min;
  if (take(",")) {
    skip_blank();
    if (has_min && peek() == '}') {
      bounds.max = Expression::kNoMax;
    } else {
      DAYBREAK_TRY(bounds.max, take_number());
      skip_blank();
    }
  }
  if (!take("}")) {
    return expected("'}'");
  }
  if (bounds.min > bounds.max) {
    return expected("a range of repetitions that goes up", "{" + std::string(since(start)), start);
  }
  return bounds;
}

std::string GrammarText::place(std::size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::string_view row = before.substr(before.rfind('\n') + 1);  // npos + 1 == 0
  const auto column = 1 + std::count_if(row.begin(), row.end(), [](char c) {
                        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
                      });
  return "grammar: line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string GrammarText::found() const {
  if (at_end()) {
    return "the end of the text";
  }
  const CodePoint point = valid_code_point(text_, at_);
  if (point.value == '\n' || point.value == '\r') {
    return "the end of the line";
  }
  if (point.value < 0x20 || point.value == 0x7F) {
    return "a control character";
  }
  return "'" + std::string(text_.substr(at_, point.length)) + "'";
}

Error GrammarText::expected(std::string_view what) const { return expected(what, found(), at_); }

Error GrammarText::expected(std::string_view what, std::string_view found,
                            std::size_t offset) const {
  return Error{Errc::kInvalidArgument,
               place(offset) + ": expected " + std::string(what) + ", found " + std::string(found)};
}

Error GrammarText::unsupported(std::string_view what, std::size_t offset) const {
  return Error{Errc::kUnsupported, place(offset) + ": " + std::string(what) + " is not supported"};
}

}  // namespace daybreak::grammar
