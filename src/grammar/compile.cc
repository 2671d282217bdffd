// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "grammar/ebnf.h"
#include "grammar/mask_builder.h"
#include "grammar/message_grammar.h"
#include "grammar/message_rules.h"
#include "grammar/program.h"

namespace daybreak::grammar {
namespace {

using Compiled = Result<std::shared_ptr<const Grammar>>;

Compiled assemble(const RuleSet& rules, CompiledSchemas schemas, Integers integers,
                  std::string prefix, Budget& budget) {
  auto impl = std::make_shared<Grammar::Impl>();
  impl->program.integers = integers;
  DAYBREAK_TRY(impl->program.rules, build_rule_graph(rules, budget));
  impl->program.schemas = std::move(schemas);
  impl->prefix = std::move(prefix);
  impl->bytes = sizeof(Grammar::Impl) + impl->program.rules.bytes() +
                impl->program.schemas.bytes() + impl->prefix.size();
  StateArena arena;
  Automaton automaton(impl->program, arena);
  Threads start;
  automaton.start(start);
  if (automaton.exhausted()) {
    return Error{Errc::kTooLarge, "grammar: expected alternatives that can be told in " +
                                      std::to_string(kMaxWork) + " steps at its start, found more"};
  }
  return std::make_shared<const Grammar>(std::move(impl));
}

Compiled text_grammar(ExpressionPtr start, Budget& budget) {
  RuleSet rules;
  rules.start = std::move(start);
  return assemble(rules, {}, Integers::kPlain, {}, budget);
}

enum class Reach : bool { kBeginning, kWhole };

// Whether an answer may begin with `text`, or be it.
bool reads(const Grammar& grammar, std::string_view text, Reach reach) {
  StateArena arena;
  Automaton automaton(grammar.impl().program, arena);
  automaton.begin_work(bytes_work(text));
  Threads start;
  automaton.start(start);
  Threads after;
  MaskBuilder::step_all(automaton, start, text, after);
  return reach == Reach::kBeginning ? !after.empty()
                                    : std::ranges::any_of(after, [&](const Thread& thread) {
                                        return automaton.complete(thread);
                                      });
}

// A schema's grammar, or why nothing satisfies the schema.
struct AnySchema {
  std::shared_ptr<const Grammar> grammar;
  std::optional<Error> contradiction;
};

Result<AnySchema> any_schema(std::string_view schema, const SchemaGrammarOptions& options) {
  Budget budget(options.limits.steps);
  SchemaCompiler compiler(budget, options.formats);
  DAYBREAK_TRY(const Schema* root, compiler.read(schema, {}));
  DAYBREAK_TRY(const FormulaId formula, compiler.formula(*root));
  DAYBREAK_TRY(CompiledSchemas schemas, compiler.finish());
  if (!schemas.formulas[formula].satisfiable) {
    return AnySchema{nullptr, compiler.contradiction("schema")};
  }
  RuleSet rules;
  const bool spaced = options.spaces == JsonSpaces::kOptional;
  rules.start = json(formula, static_cast<std::uint8_t>(kAllTypes | (spaced ? kSpacedJson : 0)));
  DAYBREAK_TRY(auto grammar, assemble(rules, std::move(schemas), options.integers, {}, budget));
  return AnySchema{std::move(grammar), std::nullopt};
}

}  // namespace

bool accepts(const Grammar& grammar, std::string_view text) {
  return reads(grammar, text, Reach::kWhole);
}

bool MessageRules::constrains() const {
  return body != Body::kText || use == Tools::kRequired ||
         (use == Tools::kOptional && !tools.empty());
}

Compiled compile(const MessageRules& rules, const MessageMarkers& markers,
                 const CompileLimits& limits) {
  Budget budget(limits.steps);
  DAYBREAK_TRY(MessageGrammar message, message_grammar(rules, markers, budget));
  const std::string prefix = rules.start == MessageRules::Start::kResponse ? rules.partial : "";
  DAYBREAK_TRY(auto grammar, assemble(message.rules, std::move(message.schemas), Integers::kPlain,
                                      prefix, budget));
  if (!reads(*grammar, prefix, Reach::kBeginning)) {
    return Error{Errc::kInvalidArgument,
                 "expected a partial message that a conforming answer can begin with, found one "
                 "that no conforming answer begins with"};
  }
  return grammar;
}

Compiled compile_schema(std::string_view schema, const SchemaGrammarOptions& options) {
  DAYBREAK_TRY(AnySchema any, any_schema(schema, options));
  if (any.contradiction) {
    return *std::move(any.contradiction);
  }
  return std::move(any.grammar);
}

Result<bool> schema_accepts(std::string_view schema, std::string_view text,
                            const SchemaGrammarOptions& options) {
  DAYBREAK_TRY(const AnySchema any, any_schema(schema, options));
  return any.grammar != nullptr && accepts(*any.grammar, text);
}

Compiled compile_regex_grammar(std::string_view pattern, const CompileLimits& limits) {
  Budget budget(limits.steps);
  DAYBREAK_TRY(ExpressionPtr start, regex_text(pattern, budget));
  return text_grammar(std::move(start), budget);
}

Compiled compile_choice(std::span<const std::string> choices, const CompileLimits& limits) {
  Budget budget(limits.steps);
  DAYBREAK_TRY(ExpressionPtr start, choice_text(choices, budget));
  return text_grammar(std::move(start), budget);
}

Compiled compile_text_grammar(std::string_view text, const CompileLimits& limits) {
  Budget budget(limits.steps);
  DAYBREAK_TRY(const RuleSet rules, parse_grammar(text, budget));
  return assemble(rules, {}, Integers::kPlain, {}, budget);
}

}  // namespace daybreak::grammar
