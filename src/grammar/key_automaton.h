// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeyAutomaton: reads a member's key and says which rules of an object apply to it. The keys fall
// into the names that the schema mentions and, for all others, into atoms: sets of keys that match
// the same patterns.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/pattern_table.h"
#include "grammar/string_language.h"

namespace daybreak::grammar {

inline constexpr std::uint32_t kMaxAtoms = 32;

// What a complete key is: names[label] for label < names.size(), else atom label - names.size().
using KeyLabel = std::uint32_t;
inline constexpr KeyLabel kNoLabel = 0xFFFFFFFF;

struct KeyAutomaton {
  std::vector<std::string> names;             // sorted
  std::vector<std::vector<PatternId>> atoms;  // the patterns that an atom's keys match

  // All keys that carry a label. Its Dfa is not minimal: states tell labels apart.
  std::shared_ptr<const StringLanguage> language;  // null: no key at all
  struct State {
    KeyLabel label = kNoLabel;                    // of the key that ends here
    std::uint32_t first_name = 0, last_name = 0;  // [first, last): names that can still be read
    std::uint32_t atoms = 0;                      // bit a: a key of atom a can
    std::uint32_t endless = 0;                    // bit a: endlessly many of them can
  };
  std::vector<State> states;  // by state of language->dfa()
  // Whether there is one atom, of which endlessly many keys can be read wherever one stands, and no
  // name is forbidden: no pattern tells keys apart, so all but the names are alike.
  bool open = false;

  // Returns how many keys of the atoms in `wanted` can be read from `state`, saturated at `cap`.
  // REQUIRES: none of them is endless there.
  [[nodiscard]] std::uint64_t count(Dfa::State state, std::uint32_t wanted,
                                    std::uint64_t cap) const;
};

// Builds the automaton of all keys. `names` sorted and distinct; `patterns` distinct.
// Errors: kTooLarge.
[[nodiscard]] Result<KeyAutomaton> build_key_automaton(std::vector<std::string> names,
                                                       const std::vector<PatternId>& patterns,
                                                       const PatternTable& table, Budget& budget);

// Returns the automaton without the keys whose label is not in `keep` [names + atoms], and atoms
// renumbered to nothing: labels stay as they are.
[[nodiscard]] Result<KeyAutomaton> keep_labels(const KeyAutomaton& all,
                                               const std::vector<bool>& keep, Budget& budget);

}  // namespace daybreak::grammar
