// SPDX-License-Identifier: Apache-2.0
#include "grammar/lark_parser.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grammar/gbnf_parser.h"
#include "grammar/grammar_lexer.h"
#include "grammar/lark_common.h"
#include "grammar/lark_terminals.h"
#include "grammar/rule_table.h"

namespace daybreak::grammar {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

enum class Name : std::uint8_t { kNone, kRule, kTerminal };

// Ignored terminals stand between terminals, never inside one.
enum class Inside : std::uint8_t { kRule, kTerminal };

class LarkParser {
 public:
  LarkParser(std::string_view text, Budget& budget)
      : text_(text, Comments::kHashAndSlashes),
        size_(text.size()),
        budget_(budget),
        // A text that only mentions the directive gets an empty rule, which does no harm.
        ignores_(text.find("%ignore") != std::string_view::npos),
        ignore_rule_(table_.add("%ignore")) {}

  Result<RuleSet> parse() {
    text_.skip_blank();
    while (!text_.at_end()) {
      DAYBREAK_CHECK_OK(text_.take("%") ? directive() : definition());
      text_.skip_blank();
    }
    DAYBREAK_CHECK_OK(check_terminals());
    if (!table_.define(ignore_rule_, repeat(choice(std::move(ignored_)), 0, Expression::kNoMax))) {
      return text_.expected("one %ignore rule");
    }
    ExpressionPtr start = rule(table_.use("start", size_));
    if (ignores_) {
      start = sequence({rule(ignore_rule_), std::move(start)});
    }
    return std::move(table_).finish(std::move(start), text_);
  }

 private:
  // Skips a name that comes next and says what it names; a name has one case.
  Name skip_name() {
    std::size_t length = text_.peek() == '_' ? 1 : 0;
    const char first = text_.peek(length);
    if (!is_lower(first) && !is_upper(first)) {
      return Name::kNone;
    }
    const Name name = is_lower(first) ? Name::kRule : Name::kTerminal;
    for (char c = first;
         (name == Name::kRule ? is_lower(c) : is_upper(c)) || is_digit(c) || c == '_';
         c = text_.peek(length)) {
      ++length;
    }
    if (is_lower(text_.peek(length)) || is_upper(text_.peek(length))) {
      return Name::kNone;
    }
    text_.seek(text_.offset() + length);
    return name;
  }

  void skip_modifiers() {
    while (text_.take("?") || text_.take("!")) {
    }
  }

  // Whether an expression ends because a directive or a definition begins here.
  bool at_statement() {
    if (text_.at_end() || !text_.at_line_start()) {
      return text_.at_end();
    }
    if (text_.peek() == '%') {
      return true;
    }
    const std::size_t start = text_.offset();
    skip_modifiers();
    bool found = skip_name() != Name::kNone;
    if (found && !at_refused_header()) {
      while (text_.take(" ") || text_.take("\t")) {
      }
      found = text_.peek() == ':';
    }
    text_.seek(start);
    return found;
  }

  bool at_template() {
    return text_.peek() == '{' && !is_digit(text_.peek(1)) && text_.peek(1) != ',';
  }
  // What follows the name in definitions that are not supported.
  bool at_refused_header() {
    return at_template() || text_.peek() == '[' || (text_.peek() == '.' && is_digit(text_.peek(1)));
  }

  Error refused_header() {
    const std::string_view what = at_template()         ? "a template rule"
                                  : text_.peek() == '[' ? "a rule attribute"
                                                        : "a priority";
    return text_.unsupported(what, text_.offset());
  }

  Status definition() {
    skip_modifiers();
    const std::size_t start = text_.offset();
    const Name kind = skip_name();
    if (kind == Name::kNone) {
      return text_.expected("a rule (name: ...), a terminal (NAME: ...) or a directive (%...)");
    }
    const std::string name(text_.since(start));
    if (at_refused_header()) {
      return refused_header();
    }
    text_.skip_blank();
    if (!text_.take(":")) {
      return text_.expected("':' after '" + name + "'");
    }
    const std::uint32_t number = table_.use(name, start);
    current_ = number;
    if (kind == Name::kTerminal) {
      terminals_.emplace(number, Terminal{start, {}});
    }
    DAYBREAK_TRY(ExpressionPtr body,
                 alternatives(kind == Name::kRule ? Inside::kRule : Inside::kTerminal, 0));
    if (!table_.define(number, std::move(body))) {
      return text_.expected("one definition of '" + name + "'", "a second one", start);
    }
    return ok();
  }

  Status directive() {
    const std::size_t start = text_.offset();
    skip_name();
    const std::string name(text_.since(start));
    if (name == "import") {
      return import_terminals();
    }
    if (name == "ignore") {
      current_ = ignore_rule_;
      DAYBREAK_TRY(ExpressionPtr item, alternatives(Inside::kTerminal, 0));
      ignored_.push_back(std::move(item));
      return ok();
    }
    return text_.unsupported("%" + name, start - 1);
  }

  // %import common.NAME, %import common.NAME -> OTHER, %import common (NAME, NAME)
  Status import_terminals() {
    text_.skip_blank();
    const std::size_t start = text_.offset();
    const Name module = skip_name();
    if (module == Name::kNone || text_.since(start) != "common") {
      return text_.unsupported("%import of anything but common", start);
    }
    if (text_.take(".")) {
      return import_terminal(true);
    }
    text_.skip_blank();
    if (!text_.take("(")) {
      return text_.expected("'.' or '(' after 'common'");
    }
    do {
      DAYBREAK_CHECK_OK(import_terminal(false));
      text_.skip_blank();
    } while (text_.take(","));
    return text_.take(")") ? ok() : Status(text_.expected("')'"));
  }

  Status import_terminal(bool renaming) {
    text_.skip_blank();
    const std::size_t start = text_.offset();
    if (skip_name() != Name::kTerminal) {
      return text_.expected("the name of a terminal");
    }
    std::string name(text_.since(start));
    if (!table_.find("common.INT")) {
      DAYBREAK_CHECK_OK(add_gbnf_rules(kLarkCommonTerminals, "common.", table_, budget_));
    }
    const auto number = table_.find("common." + name);
    if (!number) {
      return text_.unsupported("%import common." + name, start);
    }
    const std::size_t end = text_.offset();
    text_.skip_blank();
    if (renaming && text_.take("->")) {
      text_.skip_blank();
      const std::size_t other = text_.offset();
      if (skip_name() != Name::kTerminal) {
        return text_.expected("the name of a terminal");
      }
      name = text_.since(other);
    } else {
      text_.seek(end);
    }
    if (!table_.define(table_.use(name, start), rule(*number))) {
      return text_.expected("one definition of '" + name + "'", "a second one", start);
    }
    return ok();
  }

  Result<ExpressionPtr> alternatives(Inside inside, int depth) {
    std::vector<ExpressionPtr> items;
    do {
      DAYBREAK_TRY(ExpressionPtr item, alternative(inside, depth));
      items.push_back(std::move(item));
    } while (text_.take("|"));
    return choice(std::move(items));
  }

  Result<ExpressionPtr> alternative(Inside inside, int depth) {
    std::vector<ExpressionPtr> items;
    while (true) {
      text_.skip_blank();
      const char c = text_.peek();
      if (at_statement() || c == '|' || (depth > 0 && (c == ')' || c == ']'))) {
        return sequence(std::move(items));
      }
      if (text_.take("->")) {
        DAYBREAK_CHECK_OK(alias());
        return sequence(std::move(items));
      }
      DAYBREAK_CHECK_OK(budget_.spend(1, "grammar"));
      DAYBREAK_TRY(ExpressionPtr item, atom(inside, depth));
      DAYBREAK_TRY(item, quantified(std::move(item)));
      items.push_back(std::move(item));
    }
  }

  // The name of a tree node: no tree is built here.
  Status alias() {
    text_.skip_blank();
    if (skip_name() == Name::kNone) {
      return text_.expected("a name after '->'");
    }
    text_.skip_blank();
    const char c = text_.peek();
    if (!at_statement() && c != '|' && c != ')' && c != ']') {
      return text_.expected("the end of the alternative after its alias");
    }
    return ok();
  }

  Result<ExpressionPtr> atom(Inside inside, int depth) {
    const std::size_t start = text_.offset();
    switch (text_.peek()) {
      case '(':
      case '[':
        return group(inside, depth);
      case '"': {
        DAYBREAK_TRY(ExpressionPtr string, take_lark_string(text_, budget_));
        return lexeme(std::move(string), inside);
      }
      case '/': {
        DAYBREAK_TRY(ExpressionPtr regex, take_lark_regex(text_, table_, budget_));
        return lexeme(std::move(regex), inside);
      }
      case '%': {
        text_.take("%");
        skip_name();
        if (text_.since(start) == "%ignore" || text_.since(start) == "%import") {
          return text_.expected("directives at the beginning of a line", text_.since(start), start);
        }
        return text_.unsupported(text_.since(start), start);
      }
      case '<':
        return text_.unsupported("a token reference (<...>)", start);
      case '~':
      case '&':
        return text_.unsupported("a set operation on terminals ('~', '&')", start);
      default:
        return reference(inside);
    }
  }

  Result<ExpressionPtr> reference(Inside inside) {
    const std::size_t start = text_.offset();
    const Name kind = skip_name();
    if (kind == Name::kNone) {
      return text_.expected("an item");
    }
    if (at_template()) {
      return text_.unsupported("a template rule", text_.offset());
    }
    const std::uint32_t number = table_.use(text_.since(start), start);
    if (kind == Name::kTerminal) {
      if (const auto definer = terminals_.find(current_); definer != terminals_.end()) {
        definer->second.uses.push_back(number);
      }
      return lexeme(rule(number), inside);
    }
    if (inside == Inside::kTerminal) {
      return text_.expected("only terminals inside a terminal",
                            "the rule '" + table_.name(number) + "'", start);
    }
    return rule(number);
  }

  // What a rule sees of a terminal: itself and whatever ignored text follows it.
  ExpressionPtr lexeme(ExpressionPtr terminal, Inside inside) const {
    if (!ignores_ || inside == Inside::kTerminal) {
      return terminal;
    }
    return sequence({std::move(terminal), rule(ignore_rule_)});
  }

  Result<ExpressionPtr> group(Inside inside, int depth) {
    const std::size_t start = text_.offset();
    if (depth == kMaxGroupDepth) {
      return text_.expected("at most " + std::to_string(kMaxGroupDepth) + " nested groups",
                            "one more", start);
    }
    const bool may_miss = text_.take("[");
    if (!may_miss) {
      text_.take("(");
    }
    DAYBREAK_TRY(ExpressionPtr body, alternatives(inside, depth + 1));
    const std::string_view end = may_miss ? "]" : ")";
    if (!text_.take(end)) {
      return text_.expected("'" + std::string(end) + "'");
    }
    return may_miss ? optional(std::move(body)) : body;
  }

  Result<ExpressionPtr> quantified(ExpressionPtr item) {
    text_.skip_blank();
    if (at_statement()) {
      return item;  // "?name:" on the next line is a definition
    }
    std::optional<RepeatBounds> bounds;
    if (text_.take("*")) {
      bounds = {0, Expression::kNoMax};
    } else if (text_.take("+")) {
      bounds = {1, Expression::kNoMax};
    } else if (text_.take("?")) {
      bounds = {0, 1};
    } else if (text_.take("~")) {
      DAYBREAK_TRY(bounds, tilde_bounds());
    } else if (text_.take("{")) {
      DAYBREAK_TRY(bounds, text_.take_braces());
    }
    if (!bounds) {
      return item;
    }
    return repeat(std::move(item), bounds->min, bounds->max);
  }

  // What follows "~": "n" or "n..m".
  Result<RepeatBounds> tilde_bounds() {
    text_.skip_blank();
    const std::size_t start = text_.offset();
    RepeatBounds bounds;
    DAYBREAK_TRY(bounds.min, text_.take_number());
    bounds.max = bounds.min;
    const std::size_t end = text_.offset();
    text_.skip_blank();
    if (!text_.take("..")) {
      text_.seek(end);
      return bounds;
    }
    text_.skip_blank();
    DAYBREAK_TRY(bounds.max, text_.take_number());
    if (bounds.min > bounds.max) {
      return text_.expected("a range of repetitions that goes up", text_.since(start), start);
    }
    return bounds;
  }

  // A terminal is a pattern: it cannot contain itself. Takes away terminals that use none that is
  // left until no such is found; what stays is on a cycle or leads to one.
  Status check_terminals() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> users;
    std::map<std::uint32_t, std::size_t> waits;
    std::vector<std::uint32_t> ready;
    for (const auto& [number, terminal] : terminals_) {
      std::size_t uses = 0;
      for (const std::uint32_t used : terminal.uses) {
        if (terminals_.contains(used)) {  // else imported
          users[used].push_back(number);
          ++uses;
        }
      }
      waits[number] = uses;
      if (uses == 0) {
        ready.push_back(number);
      }
    }
    while (!ready.empty()) {
      const std::uint32_t done = ready.back();
      ready.pop_back();
      waits.erase(done);
      for (const std::uint32_t user : users[done]) {
        if (--waits[user] == 0) {
          ready.push_back(user);
        }
      }
    }
    if (waits.empty()) {
      return ok();
    }
    std::uint32_t stuck = waits.begin()->first;
    for (std::size_t i = 0; i < waits.size(); ++i) {  // to one that is on a cycle
      const auto& uses = terminals_.at(stuck).uses;
      stuck = *std::find_if(uses.begin(), uses.end(),
                            [&](std::uint32_t used) { return waits.contains(used); });
    }
    return text_.expected("a terminal that does not contain itself", "'" + table_.name(stuck) + "'",
                          terminals_.at(stuck).offset);
  }

  struct Terminal {
    std::size_t offset = 0;  // of its definition
    std::vector<std::uint32_t> uses;
  };

  GrammarText text_;
  std::size_t size_;
  Budget& budget_;
  RuleTable table_;
  bool ignores_;
  std::uint32_t ignore_rule_;
  std::vector<ExpressionPtr> ignored_;
  std::map<std::uint32_t, Terminal> terminals_;
  std::uint32_t current_ = 0;  // the rule being defined
};

}  // namespace

Result<RuleSet> parse_lark(std::string_view text, Budget& budget) {
  return LarkParser(text, budget).parse();
}

}  // namespace daybreak::grammar
