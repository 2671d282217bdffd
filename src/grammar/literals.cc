// SPDX-License-Identifier: Apache-2.0
#include "grammar/literals.h"

#include <algorithm>

namespace daybreak::grammar {

LiteralId LiteralTable::of(const Schema& schema) {
  if (schema.always.has_value()) {
    return *schema.always ? kTrueLiteral : kFalseLiteral;
  }
  return intern({&schema, nullptr}, &schema);
}

LiteralId LiteralTable::intern(Atom atom, const void* key) {
  const auto id = static_cast<LiteralId>(2 * atoms_.size());
  const auto [place, added] = ids_.emplace(key, id);
  if (added) {
    atoms_.push_back(atom);
  }
  return place->second;
}

Conjunction LiteralTable::simplify(Conjunction literals) {
  std::ranges::sort(literals);
  const auto doubles = std::ranges::unique(literals);
  literals.erase(doubles.begin(), doubles.end());
  std::erase(literals, kTrueLiteral);
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const bool both = i > 0 && literals[i] == negate(literals[i - 1]);
    if (both || literals[i] == kFalseLiteral) {
      return {kFalseLiteral};
    }
  }
  return literals;
}

}  // namespace daybreak::grammar
