// SPDX-License-Identifier: Apache-2.0
#include "grammar/gbnf_parser.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grammar/char_set.h"
#include "grammar/grammar_lexer.h"

namespace daybreak::grammar {
namespace {

// llama.cpp's escapes and, as they do not contradict them, those of C that xgrammar adds.
constexpr std::string_view kEscapes{
    "n\nt\tr\r\\\\\"\"[[]]''??a\ab\bf\fv\ve\033-"
    "-^^"
    "0\0",
    34};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class GbnfParser {
 public:
  GbnfParser(GrammarText& text, std::string_view prefix, RuleTable& table, Budget& budget)
      : text_(text), prefix_(prefix), table_(table), budget_(budget) {}

  Status parse() {
    text_.skip_blank();
    while (!text_.at_end()) {
      DAYBREAK_CHECK_OK(definition());
      text_.skip_blank();
    }
    return ok();
  }

 private:
  Status definition() {
    const std::size_t start = text_.offset();
    if (!at_definition()) {
      return text_.expected("a rule (name ::= ...)");
    }
    if (!text_.at_line_start()) {
      return text_.expected("a rule at the beginning of a line");
    }
    const std::uint32_t number = take_rule();
    text_.skip_blank();
    text_.take("::=");
    DAYBREAK_TRY(ExpressionPtr body, alternatives(0));
    if (!table_.define(number, std::move(body))) {
      return text_.expected("one definition of '" + table_.name(number) + "'", "a second one",
                            start);
    }
    return ok();
  }

  // Whether a name and "::=" come next. Rules end there, not at line ends (as in xgrammar;
  // llama.cpp's texts, which end them at line ends, mean the same read so).
  bool at_definition() {
    const std::size_t start = text_.offset();
    skip_name();
    const bool named = text_.offset() != start;
    text_.skip_blank();
    const bool found = named && text_.take("::=");
    text_.seek(start);
    return found;
  }

  void skip_name() {
    while (is_name_char(text_.peek())) {
      text_.seek(text_.offset() + 1);
    }
  }

  std::uint32_t take_rule() {
    const std::size_t start = text_.offset();
    skip_name();
    return table_.use(std::string(prefix_) + std::string(text_.since(start)), start);
  }

  Result<ExpressionPtr> alternatives(int depth) {
    std::vector<ExpressionPtr> items;
    do {
      DAYBREAK_TRY(ExpressionPtr item, alternative(depth));
      items.push_back(std::move(item));
    } while (text_.take("|"));
    return choice(std::move(items));
  }

  Result<ExpressionPtr> alternative(int depth) {
    std::vector<ExpressionPtr> items;
    while (true) {
      text_.skip_blank();
      const char c = text_.peek();
      if (text_.at_end() || c == '|' || c == ')' || at_definition()) {
        if (c == ')' && depth == 0) {
          return text_.expected("an item");
        }
        return sequence(std::move(items));
      }
      DAYBREAK_CHECK_OK(budget_.spend(1, "grammar"));
      DAYBREAK_TRY(ExpressionPtr item, atom(depth));
      DAYBREAK_TRY(item, quantified(std::move(item)));
      items.push_back(std::move(item));
    }
  }

  Result<ExpressionPtr> atom(int depth) {
    const char c = text_.peek();
    if (c == '"') {
      return literal();
    }
    if (c == '[') {
      return character_class();
    }
    if (c == '(') {
      return group(depth);
    }
    if (text_.take(".")) {
      return chars(CharSet::all());
    }
    if (c == '<' || (c == '!' && text_.peek(1) == '<')) {
      return text_.unsupported("a token reference (<...>)", text_.offset());
    }
    if (!is_name_char(c)) {
      return text_.expected("an item");
    }
    ExpressionPtr used = rule(take_rule());
    if (text_.peek() == '.') {  // part of the name in xgrammar, any character in llama.cpp
      return text_.expected("a space between a name and '.'");
    }
    return used;
  }

  Result<ExpressionPtr> literal() {
    DAYBREAK_TRY(const auto codes, text_.take_quoted(kEscapes));
    DAYBREAK_CHECK_OK(budget_.spend(codes.size(), "grammar"));
    return characters(codes);
  }

  Result<ExpressionPtr> character_class() {
    text_.take("[");
    const bool negated = text_.take("^");
    std::vector<CharRange> ranges;
    do {
      if (text_.peek() == ']') {
        return text_.expected("a character in the class");
      }
      const std::size_t start = text_.offset();
      CharRange range;
      DAYBREAK_TRY(range.low, text_.take_character(kEscapes));
      range.high = range.low;
      if (text_.peek() == '-' && text_.peek(1) != ']') {
        text_.take("-");
        DAYBREAK_TRY(range.high, text_.take_character(kEscapes));
      }
      if (range.low > range.high) {
        return text_.expected("a range that goes up", text_.since(start), start);
      }
      ranges.push_back(range);
    } while (!text_.take("]"));
    DAYBREAK_CHECK_OK(budget_.spend(ranges.size(), "grammar"));
    const CharSet set(std::move(ranges));
    return chars(negated ? set.complement() : set);
  }

  Result<ExpressionPtr> group(int depth) {
    const std::size_t start = text_.offset();
    text_.take("(");
    if (text_.peek() == '=') {
      return text_.unsupported("a lookahead assertion (=...)", start);
    }
    if (depth == kMaxGroupDepth) {
      return text_.expected("at most " + std::to_string(kMaxGroupDepth) + " nested groups",
                            "one more", start);
    }
    DAYBREAK_TRY(ExpressionPtr body, alternatives(depth + 1));
    if (!text_.take(")")) {
      return text_.expected("')'");
    }
    return body;
  }

  Result<ExpressionPtr> quantified(ExpressionPtr item) {
    text_.skip_blank();
    std::optional<RepeatBounds> bounds;
    if (text_.take("*")) {
      bounds = {0, Expression::kNoMax};
    } else if (text_.take("+")) {
      bounds = {1, Expression::kNoMax};
    } else if (text_.take("?")) {
      bounds = {0, 1};
    } else if (text_.take("{")) {
      DAYBREAK_TRY(bounds, text_.take_braces());
    }
    if (!bounds) {
      return item;
    }
    return repeat(std::move(item), bounds->min, bounds->max);
  }

  GrammarText& text_;
  std::string_view prefix_;
  RuleTable& table_;
  Budget& budget_;
};

}  // namespace

Status add_gbnf_rules(std::string_view text, std::string_view prefix, RuleTable& table,
                      Budget& budget) {
  GrammarText reader(text, Comments::kHash);
  return GbnfParser(reader, prefix, table, budget).parse();
}

Result<RuleSet> parse_gbnf(std::string_view text, Budget& budget) {
  RuleTable table;
  DAYBREAK_CHECK_OK(add_gbnf_rules(text, "", table, budget));
  ExpressionPtr start = rule(table.use("root", text.size()));
  return std::move(table).finish(std::move(start), GrammarText(text, Comments::kHash));
}

}  // namespace daybreak::grammar
