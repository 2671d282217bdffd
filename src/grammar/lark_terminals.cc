// SPDX-License-Identifier: Apache-2.0
#include "grammar/lark_terminals.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "grammar/char_set.h"
#include "grammar/dfa_rules.h"
#include "grammar/regex.h"

namespace daybreak::grammar {
namespace {

// Those on which Lark (a Python literal) and llguidance (a JSON string) agree.
constexpr std::string_view kEscapes = "n\nt\tr\rf\f\\\\\"\"";

bool is_letter(std::uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_word(char c) {
  return is_letter(static_cast<unsigned char>(c)) || (c >= '0' && c <= '9') || c == '_';
}

ExpressionPtr caseless(const std::vector<std::uint32_t>& codes) {
  std::vector<ExpressionPtr> items;
  for (const std::uint32_t code : codes) {
    items.push_back(is_letter(code) ? chars(CharSet::of(code).unite(CharSet::of(code ^ 0x20)))
                                    : characters({code}));
  }
  return sequence(std::move(items));
}

Result<ExpressionPtr> take_range(GrammarText& text, std::size_t start,
                                 const std::vector<std::uint32_t>& first) {
  text.skip_blank();
  if (text.peek() != '"') {
    return text.expected("'\"' at the other end of the range");
  }
  DAYBREAK_TRY(const auto last, text.take_quoted(kEscapes));
  if (first.size() != 1 || last.size() != 1 || first[0] > last[0]) {
    return text.expected("a range of two characters that goes up", text.since(start), start);
  }
  return chars(CharSet({{first[0], last[0]}}));
}

// Python and Rust take a backslash before any punctuation as the character itself; ECMA-262 with
// the u flag only before its own syntax.
void append_escape(char escaped, bool in_class, std::string& pattern) {
  constexpr std::string_view kPlain = "\"' #%&,:;=@`~!";
  const bool plain =
      kPlain.find(escaped) != std::string_view::npos || (escaped == '-' && !in_class);
  if (!plain) {
    pattern += '\\';
  }
  pattern += escaped;
}

Result<std::string> take_pattern(GrammarText& text) {
  text.take("/");
  std::string pattern;
  bool in_class = false;
  while (!text.take("/")) {
    if (text.at_end() || text.peek() == '\n') {
      return text.expected("'/' at the end of the regular expression");
    }
    if (text.take("\\")) {
      if (text.at_end() || text.peek() == '\n') {
        return text.expected("a character after '\\'");
      }
      const char escaped = text.peek();
      if (static_cast<unsigned char>(escaped) < 0x80) {
        text.take(std::string_view(&escaped, 1));
        append_escape(escaped, in_class, pattern);
        continue;
      }
      pattern += '\\';
    }
    const char c = text.peek();
    in_class = c == '[' || (in_class && c != ']');
    append_utf8(text.take_code_point(), pattern);
  }
  return pattern;
}

}  // namespace

Result<ExpressionPtr> take_lark_string(GrammarText& text, Budget& budget) {
  const std::size_t start = text.offset();
  DAYBREAK_TRY(const auto codes, text.take_quoted(kEscapes));
  DAYBREAK_CHECK_OK(budget.spend(1 + codes.size(), "grammar"));
  if (is_word(text.peek())) {
    if (text.peek() != 'i' || is_word(text.peek(1))) {
      return text.expected("the flag i or a space after the string");
    }
    text.take("i");
    for (const std::uint32_t code : codes) {
      if (code >= 0x80) {
        return text.unsupported("the flag i with characters outside ASCII", start);
      }
    }
    return caseless(codes);
  }
  const std::size_t end = text.offset();
  text.skip_blank();
  if (text.take("..")) {
    return take_range(text, start, codes);
  }
  text.seek(end);
  return characters(codes);
}

Result<ExpressionPtr> take_lark_regex(GrammarText& text, RuleTable& table, Budget& budget) {
  const std::size_t start = text.offset();
  DAYBREAK_TRY(const std::string pattern, take_pattern(text));
  if (is_word(text.peek())) {
    return text.unsupported(
        "a flag of a regular expression ('" + std::string(1, text.peek()) + "')", text.offset());
  }
  auto dfa = compile_regex(pattern, RegexMatch::kWhole, budget);
  if (!dfa) {
    return std::move(dfa).error().in(text.place(start));
  }
  if (dfa->empty()) {
    return text.expected("a regular expression that some text matches", text.since(start), start);
  }
  return add_dfa_rules(*dfa, text.since(start), table, budget);
}

}  // namespace daybreak::grammar
