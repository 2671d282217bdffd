// SPDX-License-Identifier: Apache-2.0
#pragma once

// PatternTable: the regular languages that one compilation has met, each kept once.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/dfa.h"
#include "grammar/terms.h"

namespace daybreak::grammar {

class PatternTable {
 public:
  // Returns the id of a language; equal languages have equal ids.
  [[nodiscard]] PatternId intern(std::shared_ptr<const Dfa> dfa);
  // The same for a `pattern` keyword. Errors: those of compile_regex().
  [[nodiscard]] Result<PatternId> regex(const std::string& pattern, Budget& budget);

  [[nodiscard]] const std::shared_ptr<const Dfa>& dfa(PatternId id) const { return dfas_[id]; }

 private:
  std::vector<std::shared_ptr<const Dfa>> dfas_;
  std::multimap<std::uint64_t, PatternId> by_hash_;
  std::map<std::string, PatternId, std::less<>> by_source_;
};

}  // namespace daybreak::grammar
