// SPDX-License-Identifier: Apache-2.0
#include "grammar/ebnf.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/utf8.h"
#include "grammar/gbnf_parser.h"
#include "grammar/grammar_lexer.h"
#include "grammar/lark_parser.h"

namespace daybreak::grammar {
namespace {

enum class Notation : std::uint8_t { kGbnf, kLark };

// The first rule tells: its name is followed by "::=" or by ":".
Result<Notation> notation_of(std::string_view text) {
  GrammarText reader(text, Comments::kHashAndSlashes);
  reader.skip_blank();
  const char first = reader.peek();
  if (first == '%' || first == '?' || first == '!') {
    return Notation::kLark;
  }
  const std::size_t start = reader.offset();
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  while (is_name(reader.peek())) {
    reader.seek(reader.offset() + 1);
  }
  if (reader.offset() == start) {
    return reader.expected("a rule, \"root ::= ...\" (GBNF) or \"start: ...\" (Lark)");
  }
  const char next = reader.peek();
  if (next == '.' || next == '{' || next == '[') {
    return Notation::kLark;
  }
  reader.skip_blank();
  if (reader.take("::=")) {
    return Notation::kGbnf;
  }
  if (reader.peek() == ':') {
    return Notation::kLark;
  }
  return reader.expected("\"::=\" (GBNF) or \":\" (Lark) after the first rule's name");
}

Status check_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.kind != Utf8Step::Kind::kValid) {
      const std::string_view valid = text.substr(0, at);
      return GrammarText(valid, Comments::kHash)
          .expected("valid UTF-8", "a byte that is not", valid.size());
    }
    at += step.length;
  }
  return ok();
}

}  // namespace

Result<RuleSet> parse_grammar(std::string_view text, Budget& budget) {
  DAYBREAK_CHECK_OK(budget.spend(text.size(), "grammar"));
  DAYBREAK_CHECK_OK(check_utf8(text));
  DAYBREAK_TRY(const Notation notation, notation_of(text));
  DAYBREAK_TRY(RuleSet rules,
               notation == Notation::kGbnf ? parse_gbnf(text, budget) : parse_lark(text, budget));
  return without_left_recursion(std::move(rules), budget);
}

}  // namespace daybreak::grammar
