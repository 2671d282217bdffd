// SPDX-License-Identifier: Apache-2.0
#pragma once

// Grammars as clients write them: GBNF ("root ::= ...", llama.cpp, xgrammar, vLLM's
// guided_grammar) and Lark ("start: ...", llguidance). Which one it is is seen from the text.

#include <string_view>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/expression.h"

namespace daybreak::grammar {

// Returns the rules of a grammar text, left recursion removed.
// Errors: kInvalidArgument  "grammar: line L, column C: expected ..., found ..."; a rule that is
//                           used and not defined, defined twice, a start rule that no finite text
//                           matches
//         kUnsupported      a feature that is not supported (imports other than common terminals,
//                           priorities, templates, regex flags, token references ...), by name
//         kTooLarge         the budget ended
[[nodiscard]] Result<RuleSet> parse_grammar(std::string_view text, Budget& budget);

}  // namespace daybreak::grammar
