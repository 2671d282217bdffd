// SPDX-License-Identifier: Apache-2.0
#pragma once

// Literals: the atoms that conjunctions are made of. A literal says of a value "it satisfies this
// subschema" or "it equals this constant", or the opposite. A conjunction is a sorted list of them.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "grammar/schema.h"

namespace daybreak::grammar {

using LiteralId = std::uint32_t;
inline constexpr LiteralId kTrueLiteral = 0;
inline constexpr LiteralId kFalseLiteral = 1;

using Conjunction = std::vector<LiteralId>;  // sorted, distinct

class LiteralTable {
 public:
  // Exactly one of the two is set, except for kTrueLiteral, which has neither.
  struct Atom {
    const Schema* schema = nullptr;
    const JsonNode* value = nullptr;
  };

  LiteralTable() : atoms_(1) {}

  // Return the same id for the same node; constants are told apart by address, not by value.
  [[nodiscard]] LiteralId of(const Schema& schema);
  [[nodiscard]] LiteralId of(const JsonNode& value) { return intern({nullptr, &value}, &value); }
  [[nodiscard]] static LiteralId negate(LiteralId id) { return id ^ 1U; }
  [[nodiscard]] static bool negated(LiteralId id) { return (id & 1U) != 0; }
  [[nodiscard]] const Atom& atom(LiteralId id) const { return atoms_[id / 2]; }

  // Sorts and simplifies: no doubles, no kTrueLiteral; a contradiction is {kFalseLiteral}.
  [[nodiscard]] static Conjunction simplify(Conjunction literals);

 private:
  LiteralId intern(Atom atom, const void* key);
  std::vector<Atom> atoms_;
  std::unordered_map<const void*, LiteralId> ids_;
};

}  // namespace daybreak::grammar
