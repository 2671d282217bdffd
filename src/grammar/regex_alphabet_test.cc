// SPDX-License-Identifier: Apache-2.0
#include "grammar/regex_alphabet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/rng.h"

namespace daybreak::grammar {
namespace {

// One class for each combination of sets that some code point is in, and no other.
TEST(RegexAlphabet, ClassesAreWhatTheSetsTellApart) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<CharSet> sets;
    for (std::uint32_t i = rng.below(6); i > 0; --i) {
      std::vector<CharRange> ranges;
      for (std::uint32_t j = rng.below(4); j > 0; --j) {
        const std::uint32_t low = rng.below(40) + (rng.below(4) == 0 ? 0xD7F0U : 0U);
        ranges.push_back({low, low + rng.below(10)});
      }
      const CharSet set(ranges);
      sets.push_back(rng.below(3) == 0 ? set.complement() : set);
    }
    Budget budget(100'000);
    const auto alphabet = RegexAlphabet::make(sets, budget);
    ASSERT_TRUE(alphabet);
    std::map<std::vector<bool>, std::uint32_t> classes;
    std::vector<CharRange> covered;
    for (const RegexAlphabet::Atom& atom : alphabet->atoms()) {
      covered.push_back({atom.low, atom.high});
      for (const std::uint32_t code : {atom.low, atom.high, alphabet->example(atom.cls)}) {
        std::vector<bool> in;
        for (std::uint32_t i = 0; i < sets.size(); ++i) {
          in.push_back(sets[i].contains(code));
          const auto members = alphabet->classes_of(i);
          ASSERT_EQ(std::ranges::count(members, atom.cls), in.back() ? 1 : 0);
        }
        ASSERT_EQ(classes.try_emplace(in, atom.cls).first->second, atom.cls);
      }
    }
    ASSERT_EQ(classes.size(), alphabet->classes());
    ASSERT_EQ(CharSet(covered), CharSet::all());
  }
}

}  // namespace
}  // namespace daybreak::grammar
