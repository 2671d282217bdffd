// SPDX-License-Identifier: Apache-2.0
#pragma once

// Expression: what a grammar is written in before it is compiled: sequences and choices of literal
// bytes, characters, marker tokens, JSON values of a schema, and rules that may call each other.
// EBNF and Lark texts, tool grammars and the whole-message grammar all become one of these.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "grammar/budget.h"
#include "grammar/char_set.h"
#include "grammar/string_language.h"

namespace daybreak::grammar {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

// A node in the compiled schemas (see formula.h), numbered by its owner.
using FormulaId = std::uint32_t;

// Beside TypeBits in Expression::types: one space may follow ',' and ':'.
inline constexpr std::uint8_t kSpacedJson = 128;

struct Expression {
  enum class Kind : std::uint8_t {
    kBytes,     // exactly `bytes`; empty: the empty string
    kChars,     // one code point of `chars`, in UTF-8
    kMarker,    // the special token `marker`
    kSequence,  // all of `items`, in order
    kChoice,    // one of `items`; none: matches nothing
    kRepeat,    // items[0], from `min` to `max` times; kNoMax: without end
    kRule,      // the rule number `rule`
    kText,      // a raw text of `language`; what follows must begin with a marker or end
    kJson,      // a JSON value of `formula`, only of the types in `types` (TypeBits)
  };
  static constexpr std::uint32_t kNoMax = 0xFFFFFFFF;

  Kind kind = Kind::kBytes;
  std::string bytes;
  CharSet chars;
  TokenId marker = 0;
  std::vector<ExpressionPtr> items;
  std::uint32_t min = 0, max = kNoMax;
  std::uint32_t rule = 0;
  std::shared_ptr<const StringLanguage> language;
  FormulaId formula = 0;
  std::uint8_t types = 0;
};

// Builders. Sequences in sequences and choices in choices are flattened, single items unwrapped,
// empty strings dropped from sequences.
[[nodiscard]] ExpressionPtr bytes(std::string text);
[[nodiscard]] ExpressionPtr characters(const std::vector<std::uint32_t>& code_points);
[[nodiscard]] ExpressionPtr chars(CharSet set);
[[nodiscard]] ExpressionPtr marker(TokenId id);
[[nodiscard]] ExpressionPtr sequence(std::vector<ExpressionPtr> items);
[[nodiscard]] ExpressionPtr choice(std::vector<ExpressionPtr> items);
[[nodiscard]] ExpressionPtr repeat(ExpressionPtr item, std::uint32_t min, std::uint32_t max);
[[nodiscard]] ExpressionPtr optional(ExpressionPtr item);
[[nodiscard]] ExpressionPtr rule(std::uint32_t number);
[[nodiscard]] ExpressionPtr text(std::shared_ptr<const StringLanguage> language);
[[nodiscard]] ExpressionPtr json(FormulaId formula, std::uint8_t types);

// A start expression and the rules it may call.
struct RuleSet {
  ExpressionPtr start;
  std::vector<ExpressionPtr> rules;
  std::vector<std::string> names;  // [rules], for messages
};

// Returns rules of the same language in which no rule can call itself before it has matched a
// character, and no item that matches the empty string is repeated without end. Rules that derive
// no finite text (only themselves, say) go away with the alternatives that use them, and so do
// rules that cannot be reached. Rules without such circles stay as they are written.
// Errors: kInvalidArgument naming a start rule that derives no finite text; kUnsupported when
// kText that may be empty stands in such a circle; kTooLarge when the budget ends or an expression
// is too deep.
[[nodiscard]] Result<RuleSet> without_left_recursion(RuleSet rules, Budget& budget);

}  // namespace daybreak::grammar
