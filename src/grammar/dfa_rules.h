// SPDX-License-Identifier: Apache-2.0
#pragma once

// A regular language as rules: one right-linear rule per state.

#include <string_view>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/dfa.h"
#include "grammar/expression.h"
#include "grammar/rule_table.h"

namespace daybreak::grammar {

// Adds the rules of `dfa` and returns what matches its language (nothing, if it is empty).
// Errors: kTooLarge when the budget ends.
[[nodiscard]] Result<ExpressionPtr> add_dfa_rules(const Dfa& dfa, std::string_view name,
                                                  RuleTable& table, Budget& budget);

}  // namespace daybreak::grammar
