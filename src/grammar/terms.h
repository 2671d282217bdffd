// SPDX-License-Identifier: Apache-2.0
#pragma once

// Terms: conjunctions about the members of an object or the elements of an array, in a form that is
// closed under "and" and under "not": every rule about all members has a twin about some member.
// A default-constructed term says nothing.
//
// Source of the idea: Attouche et al., "Witness generation for JSON Schema", VLDB 2022.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/literals.h"

namespace daybreak::grammar {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

using PatternId = std::uint32_t;  // of a PatternTable

// A set of keys: these names and what these patterns match, or everything else.
struct KeySet {
  std::vector<std::string> names;   // sorted, distinct
  std::vector<PatternId> patterns;  // sorted, distinct
  bool complement = false;
  friend bool operator==(const KeySet&, const KeySet&) = default;
  friend auto operator<=>(const KeySet&, const KeySet&) = default;

  static KeySet name(std::string_view name) { return {{std::string(name)}, {}, false}; }
  static KeySet pattern(PatternId id) { return {{}, {id}, false}; }
  [[nodiscard]] bool single_name() const {
    return !complement && names.size() == 1 && patterns.empty();
  }
};

struct KeyRule {
  KeySet keys;
  LiteralId value = kTrueLiteral;
  friend bool operator==(const KeyRule&, const KeyRule&) = default;
  friend auto operator<=>(const KeyRule&, const KeyRule&) = default;
};

struct ObjectTerm {
  std::vector<KeyRule> every;         // every member with such a key has such a value
  std::vector<KeyRule> some;          // some member has such a key and such a value
  std::vector<std::string> required;  // sorted, distinct
  std::uint64_t min = 0, max = kNoLimit;
  friend bool operator==(const ObjectTerm&, const ObjectTerm&) = default;
};

struct ElementRule {
  std::uint64_t index = 0;
  LiteralId value = kTrueLiteral;
  friend bool operator==(const ElementRule&, const ElementRule&) = default;
  friend auto operator<=>(const ElementRule&, const ElementRule&) = default;
};

// Between `min` and `max` elements at `from` or later satisfy `value`.
struct ContainsRule {
  std::uint64_t from = 0;
  LiteralId value = kTrueLiteral;
  std::uint64_t min = 0, max = kNoLimit;
  friend bool operator==(const ContainsRule&, const ContainsRule&) = default;
  friend auto operator<=>(const ContainsRule&, const ContainsRule&) = default;
};

struct ArrayTerm {
  std::vector<ElementRule> at;    // the element at `index`, if there is one; sorted
  std::vector<ElementRule> from;  // all elements at `index` or later
  std::vector<ContainsRule> contains;
  std::uint64_t min = 0, max = kNoLimit;
  bool unique = false;
  friend bool operator==(const ArrayTerm&, const ArrayTerm&) = default;
};

// Return what a copy of the term costs: kWeightPerStep (expander.h) is one step of the budget.
[[nodiscard]] std::uint64_t weight(const ObjectTerm& term);
[[nodiscard]] std::uint64_t weight(const ArrayTerm& term);
[[nodiscard]] std::uint64_t hash(const ObjectTerm& term);
[[nodiscard]] std::uint64_t hash(const ArrayTerm& term);

// Return the conjunction. It may still be unsatisfiable; min > max is left to the caller.
[[nodiscard]] ObjectTerm meet(const ObjectTerm& a, const ObjectTerm& b);
[[nodiscard]] ArrayTerm meet(const ArrayTerm& a, const ArrayTerm& b);

}  // namespace daybreak::grammar
