// SPDX-License-Identifier: Apache-2.0
#include "grammar/key_automaton.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

struct Made {
  PatternTable table;
  std::vector<PatternId> patterns;
  KeyAutomaton keys;
};

Made make(std::vector<std::string> names, const std::vector<std::string>& patterns) {
  Made made;
  Budget budget(10'000'000);
  for (const std::string& pattern : patterns) {
    const auto id = made.table.regex(pattern, budget);
    EXPECT_TRUE(id) << pattern;
    made.patterns.push_back(*id);
  }
  std::ranges::sort(names);
  auto keys = build_key_automaton(names, made.patterns, made.table, budget);
  EXPECT_TRUE(keys);
  made.keys = *std::move(keys);
  return made;
}

Dfa::State state_after(const KeyAutomaton& keys, std::string_view key) {
  Dfa::State state = Dfa::kStart;
  for (std::size_t i = 0; i < key.size() && state != Dfa::kDead;) {
    const CodePoint point = valid_code_point(key, i);
    i += point.length;
    state = keys.language->dfa().next(state, point.value);
  }
  return state;
}

KeyLabel label_of(const KeyAutomaton& keys, std::string_view key) {
  if (keys.language == nullptr) {
    return kNoLabel;
  }
  const Dfa::State state = state_after(keys, key);
  return state == Dfa::kDead ? kNoLabel : keys.states[state].label;
}

// All keys over a few characters, up to four of them.
const std::vector<std::string>& some_keys() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> keys{""};
    for (std::size_t i = 0; i < keys.size() && keys[i].size() < 5; ++i) {
      for (const std::string_view next : {"a", "b", "x", "\xC3\xA9"}) {
        if (keys[i].size() < 4) {
          keys.push_back(keys[i] + std::string(next));
        }
      }
    }
    return keys;
  }();
  return all;
}

// The label that a key must have, from the definitions.
KeyLabel expected_label(const Made& made, const std::string& key) {
  const auto name = std::ranges::find(made.keys.names, key);
  if (name != made.keys.names.end()) {
    return static_cast<KeyLabel>(name - made.keys.names.begin());
  }
  std::vector<PatternId> matched;
  for (const PatternId id : made.patterns) {
    if (made.table.dfa(id)->contains(key)) {
      matched.push_back(id);
    }
  }
  std::ranges::sort(matched);
  const auto atom = std::ranges::find(made.keys.atoms, matched);
  EXPECT_NE(atom, made.keys.atoms.end()) << key;
  return static_cast<KeyLabel>(made.keys.names.size()) +
         static_cast<KeyLabel>(atom - made.keys.atoms.begin());
}

// Holds first_name, last_name and atoms of every state to what the known keys say.
void expect_states_know_what_follows(const KeyAutomaton& keys) {
  for (const std::string& key : some_keys()) {
    const Dfa::State state = state_after(keys, key);
    std::set<std::string> below;
    for (std::size_t name = 0; name < keys.names.size(); ++name) {
      if (keys.names[name].starts_with(key) && label_of(keys, keys.names[name]) == name) {
        below.insert(keys.names[name]);
      }
    }
    if (state == Dfa::kDead) {
      EXPECT_TRUE(below.empty()) << key;
      continue;
    }
    const KeyAutomaton::State& own = keys.states[state];
    std::set<std::string> said;
    for (std::uint32_t name = own.first_name; name < own.last_name; ++name) {
      if (label_of(keys, keys.names[name]) == name) {
        said.insert(keys.names[name]);
      }
    }
    EXPECT_EQ(said, below) << "after '" << key << "'";
    EXPECT_EQ(own.endless & ~own.atoms, 0U) << key;
  }
}

TEST(KeyAutomaton, GivesEveryKeyItsLabel) {
  for (const auto& [names, patterns] :
       std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{}, {}},
           {{"a", "ab", "abx", ""}, {}},
           {{"a", "b\xC3\xA9", "xx"}, {"^a", "b$"}},
           {{}, {"^a", "b$", "x"}},
           {{"aa", "ab"}, {"^a{1,3}$", "^[ab]*$"}},
           {{"\xC3\xA9"}, {"^.$", "^..$"}}}) {
    const Made made = make(names, patterns);
    for (const std::string& key : some_keys()) {
      EXPECT_EQ(label_of(made.keys, key), expected_label(made, key)) << key;
    }
    expect_states_know_what_follows(made.keys);
  }
}

TEST(KeyAutomaton, IsOpenWhereNothingTellsKeysApart) {
  EXPECT_TRUE(make({}, {}).keys.open);
  EXPECT_TRUE(make({"a", "ab"}, {}).keys.open);
  EXPECT_FALSE(make({"a"}, {"^x"}).keys.open);
}

TEST(KeyAutomaton, KnowsWhichAtomsAreEndless) {
  const Made made = make({"ab"}, {"^[ab]{1,2}$"});
  ASSERT_EQ(made.keys.atoms.size(), 2U);
  const std::size_t listed = made.keys.atoms[0].empty() ? 1 : 0;  // the atom of the pattern
  const auto bit = [&](std::uint32_t bits) { return (bits >> listed & 1) != 0; };
  const KeyAutomaton::State& start = made.keys.states[Dfa::kStart];
  EXPECT_TRUE(bit(start.atoms));
  EXPECT_FALSE(bit(start.endless));
  EXPECT_EQ(start.endless, 3U & ~(1U << listed));
  // a, b, aa, ba, bb: "ab" is a name.
  EXPECT_EQ(made.keys.count(Dfa::kStart, 1U << listed, 100), 5U);
  EXPECT_EQ(made.keys.count(Dfa::kStart, 1U << listed, 3), 3U);
  EXPECT_EQ(made.keys.count(state_after(made.keys, "a"), 1U << listed, 100), 2U);  // a, aa
  EXPECT_EQ(made.keys.count(state_after(made.keys, "b"), 1U << listed, 100), 3U);
  EXPECT_FALSE(bit(made.keys.states[state_after(made.keys, "x")].atoms));
}

TEST(KeyAutomaton, KeepsLabelsAndDropsTheKeysOfOthers) {
  const Made made = make({"a", "ab", "x"}, {"^a"});
  Budget budget(10'000'000);
  const std::size_t labels = 3 + made.keys.atoms.size();
  for (std::uint32_t kept = 0; kept < (1U << labels); ++kept) {
    std::vector<bool> keep;
    for (std::size_t label = 0; label < labels; ++label) {
      keep.push_back((kept >> label & 1) != 0);
    }
    const auto some = keep_labels(made.keys, keep, budget);
    ASSERT_TRUE(some);
    EXPECT_EQ(some->names, made.keys.names);
    EXPECT_EQ(some->atoms, made.keys.atoms);
    EXPECT_EQ(some->language == nullptr, kept == 0);
    EXPECT_FALSE(some->open);  // two atoms, or something is forbidden
    for (const std::string& key : some_keys()) {
      const KeyLabel label = label_of(made.keys, key);
      EXPECT_EQ(label_of(*some, key), keep[label] ? label : kNoLabel) << key << " " << kept;
    }
    if (kept != 0) {
      expect_states_know_what_follows(*some);
    }
  }
}

TEST(KeyAutomaton, IsNotOpenWhereANameIsForbidden) {
  const Made made = make({"a", "b"}, {});
  Budget budget(10'000'000);
  EXPECT_TRUE(keep_labels(made.keys, {true, true, true}, budget)->open);
  EXPECT_FALSE(keep_labels(made.keys, {false, true, true}, budget)->open);
  EXPECT_FALSE(keep_labels(made.keys, {true, true, false}, budget)->open);
}

TEST(KeyAutomaton, BoundsTheCombinationsOfPatterns) {
  PatternTable table;
  Budget budget(100'000'000);
  std::vector<PatternId> patterns;
  for (const std::string pattern : {"a", "b", "c", "d", "e"}) {
    patterns.push_back(*table.regex(pattern, budget));
  }
  EXPECT_TRUE(build_key_automaton({}, patterns, table, budget));  // 32 combinations
  patterns.push_back(*table.regex("f", budget));
  const auto one_more = build_key_automaton({}, patterns, table, budget);
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::grammar
