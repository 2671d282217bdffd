// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the rules of a grammar derive, seen from outside: the empty string, any finite text at all,
// which rules they may call before they have matched a character.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/expression.h"

namespace daybreak::grammar {

inline constexpr int kMaxExpressionDepth = 1000;

using RuleFlags = std::vector<std::uint8_t>;  // [rules]

// Returns the number of nodes of start and rules, those with two parents counted twice.
// Errors: kTooLarge when an expression is deeper than kMaxExpressionDepth or the budget ends.
[[nodiscard]] Result<std::size_t> measure(const RuleSet& rules, Budget& budget);

// Whether an expression matches the empty string, given which rules do.
[[nodiscard]] bool is_nullable(const Expression& expression, const RuleFlags& nullable);
// Whether an expression matches any finite text, given which rules do. A kJson is taken to.
[[nodiscard]] bool is_productive(const Expression& expression, const RuleFlags& productive);

// Which rules match the empty string, or any finite text. REQUIRES: measured.
[[nodiscard]] Result<RuleFlags> nullable_rules(const RuleSet& rules, Budget& budget);
[[nodiscard]] Result<RuleFlags> productive_rules(const RuleSet& rules, Budget& budget);

// Appends the rules that `expression` may call first, duplicates allowed.
void append_left_calls(const Expression& expression, const RuleFlags& nullable,
                       std::vector<std::uint32_t>& calls);

// Returns the sets of rules that call each other first in a circle; those of one rule only if it
// calls itself first. No set is empty.
[[nodiscard]] Result<std::vector<std::vector<std::uint32_t>>> left_recursive_sets(
    const RuleSet& rules, const RuleFlags& nullable, Budget& budget);

// Returns the rules that `start` can reach, and nothing else, renumbered.
[[nodiscard]] Result<RuleSet> only_reachable(RuleSet rules, Budget& budget);

}  // namespace daybreak::grammar
