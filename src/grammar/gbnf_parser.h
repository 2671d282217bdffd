// SPDX-License-Identifier: Apache-2.0
#pragma once

// GBNF: "root ::= ...", the notation of llama.cpp and xgrammar. docs/grammars.md says what is read.

#include <string_view>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/expression.h"
#include "grammar/rule_table.h"

namespace daybreak::grammar {

// Returns the rules as written; `root` is the start. REQUIRES: valid UTF-8.
// Errors: as parse_grammar.
[[nodiscard]] Result<RuleSet> parse_gbnf(std::string_view text, Budget& budget);

// Adds the rules of `text` to a table, under their names with `prefix` in front.
[[nodiscard]] Status add_gbnf_rules(std::string_view text, std::string_view prefix,
                                    RuleTable& table, Budget& budget);

}  // namespace daybreak::grammar
