// SPDX-License-Identifier: Apache-2.0
#include "grammar/pattern_table.h"

#include <utility>

#include "grammar/regex.h"

namespace daybreak::grammar {

PatternId PatternTable::intern(std::shared_ptr<const Dfa> dfa) {
  const auto [first, last] = by_hash_.equal_range(dfa->hash());
  for (auto it = first; it != last; ++it) {
    if (*dfas_[it->second] == *dfa) {
      return it->second;
    }
  }
  const auto id = static_cast<PatternId>(dfas_.size());
  by_hash_.emplace(dfa->hash(), id);
  dfas_.push_back(std::move(dfa));
  return id;
}

Result<PatternId> PatternTable::regex(const std::string& pattern, Budget& budget) {
  if (const auto known = by_source_.find(pattern); known != by_source_.end()) {
    return known->second;
  }
  DAYBREAK_TRY(Dfa dfa, compile_regex(pattern, RegexMatch::kSearch, budget));
  const PatternId id = intern(std::make_shared<const Dfa>(std::move(dfa)));
  by_source_.emplace(pattern, id);
  return id;
}

}  // namespace daybreak::grammar
