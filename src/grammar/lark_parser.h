// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lark: "start: ...", the notation of the Lark parser and llguidance. docs/grammars.md says what is
// read and how lexing differs: every way to cut a text into terminals is tried.

#include <string_view>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/expression.h"

namespace daybreak::grammar {

// Returns the rules as written; `start` is the start, with ignored terminals allowed before the
// first terminal and after every one. REQUIRES: valid UTF-8. Errors: as parse_grammar.
[[nodiscard]] Result<RuleSet> parse_lark(std::string_view text, Budget& budget);

}  // namespace daybreak::grammar
