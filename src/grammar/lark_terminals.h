// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a Lark terminal is made of: strings, ranges of characters and regular expressions.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/expression.h"
#include "grammar/grammar_lexer.h"
#include "grammar/rule_table.h"

namespace daybreak::grammar {

// Takes a string, with its flag i, or a range "a".."z". REQUIRES: text.peek() == '"'.
[[nodiscard]] Result<ExpressionPtr> take_lark_string(GrammarText& text, Budget& budget);

// Takes /pattern/ and adds its rules. REQUIRES: text.peek() == '/'.
[[nodiscard]] Result<ExpressionPtr> take_lark_regex(GrammarText& text, RuleTable& table,
                                                    Budget& budget);

}  // namespace daybreak::grammar
