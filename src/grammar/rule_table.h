// SPDX-License-Identifier: Apache-2.0
#pragma once

// RuleTable: the rules of a grammar text while it is read; a rule may be used before it is defined.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/expression.h"
#include "grammar/grammar_lexer.h"

namespace daybreak::grammar {

class RuleTable {
 public:
  // Returns the number of the rule `name`, giving it one at its first use, which is at `offset`.
  std::uint32_t use(std::string_view name, std::size_t offset);
  // Returns the number of `name` if it was used or defined.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  // Sets what a rule is. Returns false if it is defined already.
  [[nodiscard]] bool define(std::uint32_t number, ExpressionPtr body);
  // Adds a rule that no text can name.
  std::uint32_t add(std::string name);
  [[nodiscard]] const std::string& name(std::uint32_t number) const { return rules_.names[number]; }

  // Returns the rules with `start` in front. Errors: a rule that is used and not defined.
  [[nodiscard]] Result<RuleSet> finish(ExpressionPtr start, const GrammarText& text) &&;

 private:
  RuleSet rules_;
  std::vector<std::size_t> first_use_;  // [rules] offsets
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

}  // namespace daybreak::grammar
