// SPDX-License-Identifier: Apache-2.0
#include "grammar/rule_table.h"

#include <utility>

namespace daybreak::grammar {

std::uint32_t RuleTable::use(std::string_view name, std::size_t offset) {
  if (const auto known = find(name)) {
    return *known;
  }
  const std::uint32_t number = add(std::string(name));
  first_use_[number] = offset;
  numbers_.emplace(name, number);
  return number;
}

std::optional<std::uint32_t> RuleTable::find(std::string_view name) const {
  const auto known = numbers_.find(name);
  return known == numbers_.end() ? std::nullopt : std::optional(known->second);
}

bool RuleTable::define(std::uint32_t number, ExpressionPtr body) {
  if (rules_.rules[number] != nullptr) {
    return false;
  }
  rules_.rules[number] = std::move(body);
  return true;
}

std::uint32_t RuleTable::add(std::string name) {
  const auto number = static_cast<std::uint32_t>(rules_.rules.size());
  rules_.rules.emplace_back();
  rules_.names.push_back(std::move(name));
  first_use_.push_back(0);
  return number;
}

Result<RuleSet> RuleTable::finish(ExpressionPtr start, const GrammarText& text) && {
  for (std::size_t i = 0; i < rules_.rules.size(); ++i) {
    if (rules_.rules[i] == nullptr) {
      return text.expected("a rule that is defined", "'" + rules_.names[i] + "'", first_use_[i]);
    }
  }
  rules_.start = std::move(start);
  return std::move(rules_);
}

}  // namespace daybreak::grammar
