// SPDX-License-Identifier: Apache-2.0
#include "grammar/dfa_rules.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::grammar {
namespace {

// Whether nothing can follow: such a state needs no rule.
bool is_end(const Dfa& dfa, Dfa::State state) { return dfa.edges(state).empty(); }

ExpressionPtr state_body(const Dfa& dfa, Dfa::State state, std::uint32_t first_rule) {
  std::map<Dfa::State, std::vector<CharRange>> by_target;
  for (const Dfa::Edge& edge : dfa.edges(state)) {
    by_target[edge.target].push_back({edge.low, edge.high});
  }
  std::vector<ExpressionPtr> alternatives;
  for (auto& [target, ranges] : by_target) {
    ExpressionPtr step = chars(CharSet(std::move(ranges)));
    alternatives.push_back(is_end(dfa, target)
                               ? std::move(step)
                               : sequence({std::move(step), rule(first_rule + target)}));
  }
  if (dfa.accepts(state)) {
    alternatives.push_back(bytes(""));
  }
  return choice(std::move(alternatives));
}

}  // namespace

Result<ExpressionPtr> add_dfa_rules(const Dfa& dfa, std::string_view name, RuleTable& table,
                                    Budget& budget) {
  if (dfa.empty()) {
    return choice({});
  }
  std::uint32_t first_rule = 0;
  for (Dfa::State state = 0; state < dfa.states(); ++state) {
    DAYBREAK_CHECK_OK(budget.spend(1 + dfa.edges(state).size(), "grammar"));
    const std::uint32_t number = table.add(std::string(name));
    first_rule = state == Dfa::kStart ? number : first_rule;
  }
  for (Dfa::State state = 0; state < dfa.states(); ++state) {
    if (!table.define(first_rule + state, state_body(dfa, state, first_rule))) {
      return choice({});  // cannot be: the rule was added above
    }
  }
  return rule(first_rule);
}

}  // namespace daybreak::grammar
