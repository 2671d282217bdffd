// SPDX-License-Identifier: Apache-2.0
#include "grammar/message_grammar.h"

#include <utility>

#include "base/utf8.h"
#include "grammar/contradiction.h"
#include "grammar/ebnf.h"
#include "grammar/regex.h"
#include "grammar/tool_grammar.h"

namespace daybreak::grammar {
namespace {

using Body = MessageRules::Body;
using Start = MessageRules::Start;

ExpressionPtr any_text() { return text(StringLanguage::all()); }

ExpressionPtr digits() { return chars(CharSet({{'0', '9'}})); }

class Writer {
 public:
  Writer(const MessageRules& rules, const MessageMarkers& markers, Budget& budget)
      : rules_(rules), elements_(markers), budget_(budget), schemas_(budget, Formats::kAssert) {}

  Result<MessageGrammar> run() {
    DAYBREAK_CHECK_OK(read_body());
    std::vector<ToolArguments> tools;
    for (std::size_t i = 0; i < rules_.tools.size(); ++i) {
      DAYBREAK_TRY(ToolArguments tool,
                   ToolArguments::read(rules_.tools[i], tool_name(i), schemas_));
      tools.push_back(std::move(tool));
    }
    DAYBREAK_TRY(out_.schemas, schemas_.finish());
    DAYBREAK_TRY(const ExpressionPtr body, body_expression());
    DAYBREAK_TRY(const ExpressionPtr calls, calls_expression(tools));
    out_.rules.start = rules_.start == Start::kBare ? body : message(body, calls);
    DAYBREAK_TRY(out_.rules, without_left_recursion(std::move(out_.rules), budget_));
    return std::move(out_);
  }

 private:
  static std::string tool_name(std::size_t index) {
    return "tools[" + std::to_string(index) + "].function.parameters";
  }

  Status read_body() {
    if (rules_.body == Body::kSchema || rules_.body == Body::kJsonObject) {
      DAYBREAK_TRY(
          const Schema* schema,
          schemas_.read(rules_.body == Body::kSchema ? rules_.body_source : R"({"type":"object"})",
                        {}));
      DAYBREAK_TRY(body_, schemas_.formula(*schema));
    }
    return ok();
  }

  Result<ExpressionPtr> body_expression() {
    switch (rules_.body) {
      case Body::kText:
        return any_text();
      case Body::kJsonObject:
      case Body::kSchema:
        if (!out_.schemas.formulas[body_].satisfiable) {
          return schemas_.contradiction("schema");
        }
        return json(body_, kAllTypes);
      case Body::kRegex:
        return regex_text(rules_.body_source, budget_);
      case Body::kChoice:
        return choice_text(rules_.choices, budget_);
      case Body::kGrammar: {
        DAYBREAK_TRY(out_.rules, parse_grammar(rules_.body_source, budget_));
        return out_.rules.start;
      }
    }
    return any_text();
  }

  // One or more calls, null if none may be made.
  Result<ExpressionPtr> calls_expression(const std::vector<ToolArguments>& tools) {
    if (rules_.use == MessageRules::Tools::kNone || tools.empty()) {
      return ExpressionPtr();
    }
    std::vector<ExpressionPtr> calls;
    for (std::size_t i = 0; i < tools.size(); ++i) {
      auto arguments = tools[i].expression(out_.schemas, elements_);
      if (!arguments) {
        return std::move(arguments).error().in(tool_name(i));
      }
      const ExpressionPtr header =
          sequence({bytes("call tool=\"" + escape_attribute(rules_.tools[i].name) + "\" index=\""),
                    chars(CharSet({{'1', '9'}})), repeat(digits(), 0, 3), bytes("\"")});
      calls.push_back(
          sequence({elements_.open(header), *std::move(arguments), elements_.close("call")}));
    }
    const ExpressionPtr one = choice(std::move(calls));
    return elements_.element("tools", "tools",
                             rules_.parallel ? repeat(one, 1, Expression::kNoMax) : one);
  }

  ExpressionPtr message(const ExpressionPtr& body, const ExpressionPtr& calls) {
    const ExpressionPtr response_open = elements_.open("response");
    const ExpressionPtr response_close = elements_.close("response");
    // What may stand in the response, with and without calls after it. Beside calls it is often
    // empty, and then no form binds it.
    const bool forced = rules_.use == MessageRules::Tools::kRequired;
    const ExpressionPtr alone = sequence({body, response_close});
    std::vector<ExpressionPtr> open_ways;  // after `open response`
    std::vector<ExpressionPtr> ways;       // after the think channel
    if (calls == nullptr || !forced) {
      open_ways.push_back(alone);
      ways.push_back(sequence({response_open, alone}));
    }
    if (calls != nullptr) {
      const ExpressionPtr beside = sequence({optional(body), response_close, calls});
      open_ways.push_back(beside);
      ways.push_back(sequence({response_open, beside}));
      ways.push_back(calls);
    }
    const ExpressionPtr thought = sequence({any_text(), elements_.close("think")});
    std::vector<ExpressionPtr> all;
    switch (rules_.start) {
      case Start::kThink:
        all = {thought, choice(std::move(ways))};
        break;
      case Start::kResponse:
        all = {choice(std::move(open_ways))};
        break;
      case Start::kBare:  // not a message
      case Start::kNone:
        all = {optional(sequence({elements_.open("think"), thought})), choice(std::move(ways))};
        break;
    }
    all.push_back(elements_.close("message"));
    all.push_back(elements_.end());
    return sequence(std::move(all));
  }

  const MessageRules& rules_;
  Elements elements_;
  Budget& budget_;
  SchemaCompiler schemas_;
  FormulaId body_ = 0;
  MessageGrammar out_;
};

Result<ExpressionPtr> text_of(Dfa dfa, std::string_view what, Budget& budget) {
  DAYBREAK_TRY(auto language, StringLanguage::make(std::make_shared<const Dfa>(std::move(dfa)), 0,
                                                   kNoMaxChars, budget));
  if (language == nullptr) {
    return contradiction(what);
  }
  return text(std::move(language));
}

}  // namespace

Result<ExpressionPtr> regex_text(std::string_view pattern, Budget& budget) {
  DAYBREAK_TRY(Dfa dfa, compile_regex(pattern, RegexMatch::kWhole, budget));
  return text_of(std::move(dfa), "regex", budget);
}

Result<ExpressionPtr> choice_text(std::span<const std::string> choices, Budget& budget) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!is_valid_utf8(choices[i])) {
      return Error{Errc::kInvalidArgument,
                   "choice[" + std::to_string(i) + "]: expected UTF-8, found other bytes"};
    }
  }
  DAYBREAK_TRY(Dfa dfa, Dfa::strings(choices, budget));
  return text_of(std::move(dfa), "choice", budget);
}

Result<MessageGrammar> message_grammar(const MessageRules& rules, const MessageMarkers& markers,
                                       Budget& budget) {
  return Writer(rules, markers, budget).run();
}

}  // namespace daybreak::grammar
