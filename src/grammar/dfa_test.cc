// SPDX-License-Identifier: Apache-2.0
#include "grammar/dfa.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grammar/dfa_builder.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kSteps = 1'000'000;

Dfa strings(const std::vector<std::string>& list) {
  Budget budget(kSteps);
  return *Dfa::strings(list, budget);
}

// Strings of exactly `length` code points from low to high.
Dfa power(std::uint32_t low, std::uint32_t high, std::uint32_t length) {
  DfaBuilder builder;
  builder.add_state(length == 0);
  for (std::uint32_t i = 1; i <= length; ++i) {
    builder.add_state(i == length);
    builder.add_edge(i - 1, low, high, i);
  }
  Budget budget(kSteps);
  return *std::move(builder).build(0, budget);
}

TEST(Dfa, EmptyAndAll) {
  EXPECT_TRUE(Dfa().empty());
  EXPECT_FALSE(Dfa().contains(""));
  EXPECT_EQ(Dfa().count(9), 0U);
  EXPECT_EQ(Dfa().list(0), std::vector<std::string>());
  EXPECT_FALSE(Dfa().is_all());
  const Dfa all = Dfa::all();
  EXPECT_TRUE(all.is_all());
  EXPECT_TRUE(all.contains(""));
  EXPECT_TRUE(all.contains("a\xF0\x9F\x98\x80"));
  EXPECT_EQ(all.next(0, 0xD800), Dfa::kDead);
  EXPECT_EQ(all.count(7), 7U);
  EXPECT_FALSE(all.list(1000));
  Budget budget(kSteps);
  EXPECT_EQ(*Dfa().complement(budget), all);
  EXPECT_EQ(*all.complement(budget), Dfa());
}

TEST(Dfa, StringsAreExactlyTheStrings) {
  const std::vector<std::string> list = {"b", "", "ab", "äö", "b", "a\xF0\x9F\x98\x80"};
  const Dfa dfa = strings(list);
  for (const std::string& string : list) {
    EXPECT_TRUE(dfa.contains(string));
  }
  for (const char* other : {"a", "abb", "bb", "ä", "c"}) {
    EXPECT_FALSE(dfa.contains(other));
  }
  EXPECT_EQ(dfa.count(100), 5U);
  EXPECT_EQ(dfa.count(3), 3U);
  EXPECT_EQ(dfa.list(5), (std::vector<std::string>{"", "b", "ab", "a\xF0\x9F\x98\x80", "äö"}));
  EXPECT_FALSE(dfa.list(4));
  EXPECT_EQ(strings({}), Dfa());
}

TEST(Dfa, EqualLanguagesAreEqualValues) {
  EXPECT_EQ(strings({"ac", "bc"}), strings({"bc", "ac", "bc"}));
  EXPECT_EQ(strings({"ac", "bc"}).states(), 3U);
  EXPECT_EQ(strings({"ac", "bc"}).edges(0).size(), 1U);  // a and b are neighbours
  EXPECT_NE(strings({"ac", "bc"}), strings({"ac", "bd"}));
  EXPECT_NE(strings({"a"}), strings({"a", ""}));
}

TEST(Dfa, NextFindsEachOfManyEdges) {
  std::vector<std::string> list;
  for (char c = '!'; c < '~'; c = static_cast<char>(c + 2)) {
    list.push_back(std::string(1, c) + std::string(static_cast<std::size_t>(c), 'x'));
  }
  const Dfa dfa = strings(list);
  for (std::uint32_t code = 0; code < 128; ++code) {
    const bool is_edge = code >= '!' && code < '~' && code % 2 == 1;
    EXPECT_EQ(dfa.next(0, code) != Dfa::kDead, is_edge) << code;
  }
  EXPECT_EQ(dfa.next(0, kMaxCodePoint), Dfa::kDead);
}

TEST(Dfa, CountSaturates) {
  EXPECT_EQ(power('a', 'z', 3).count(1'000'000), 26U * 26 * 26);
  EXPECT_EQ(power(0, kMaxCodePoint, 1).count(9'999'999), 0x110000U - 0x800);
  EXPECT_EQ(power('a', 'z', 200).count(~0ULL), ~0ULL);
  // A cycle that the start state is not on.
  DfaBuilder builder;
  builder.add_state(false);
  builder.add_state(true);
  builder.add_edge(0, 'a', 'a', 1);
  builder.add_edge(1, 'a', 'a', 1);
  Budget budget(kSteps);
  EXPECT_EQ((*std::move(builder).build(0, budget)).count(50), 50U);
}

TEST(DfaBuilder, DropsStatesThatLeadNowhere) {
  DfaBuilder builder;
  for (int i = 0; i < 5; ++i) {
    builder.add_state(i == 3);
  }
  builder.add_edge(2, 'a', 'a', 3);
  builder.add_edge(2, 'b', 'b', 1);  // dead end
  builder.add_edge(4, 'c', 'c', 3);  // not reachable
  builder.add_edge(3, 'x', 'y', 1);
  Budget budget(kSteps);
  EXPECT_EQ(*std::move(builder).build(2, budget), strings({"a"}));
}

TEST(DfaBuilder, NothingAcceptsIsTheEmptyLanguage) {
  DfaBuilder builder;
  builder.add_state(false);
  builder.add_edge(0, 'a', 'a', 0);
  Budget budget(kSteps);
  EXPECT_EQ(*std::move(builder).build(0, budget), Dfa());
}

TEST(DfaBuilder, EdgesMeetAcrossStatesThatAreMerged) {
  // a-m to one accepting state, n-z to another.
  DfaBuilder builder;
  builder.add_state(false);
  builder.add_state(true);
  builder.add_state(true);
  builder.add_edge(0, 'n', 'z', 2);
  builder.add_edge(0, 'a', 'm', 1);
  Budget budget(kSteps);
  EXPECT_EQ(*std::move(builder).build(0, budget), power('a', 'z', 1));
}

// Moore's algorithm takes a round per state here; this one must not.
TEST(DfaBuilder, LongChainsAreLinear) {
  constexpr std::uint32_t kLength = 100'000;
  DfaBuilder builder;
  builder.add_state(true);
  for (std::uint32_t i = 0; i < kLength; ++i) {
    builder.add_state(true);
    builder.add_edge(i, 'a', 'z', i + 1);
  }
  Budget budget(30 * kLength);
  const Result<Dfa> dfa = std::move(builder).build(0, budget);
  ASSERT_TRUE(dfa);
  EXPECT_EQ(dfa->states(), kLength + 1);
}

TEST(Dfa, BudgetEndsEveryOperation) {
  const Dfa a = power('a', 'y', 50);
  const Dfa b = power('b', 'z', 50);
  Budget spent(10);
  EXPECT_EQ(a.intersect(b, spent).error().code, Errc::kTooLarge);
  EXPECT_EQ(a.unite(b, spent).error().code, Errc::kTooLarge);
  EXPECT_EQ(a.complement(spent).error().code, Errc::kTooLarge);
  const std::vector<std::string> list = {"a long string"};
  EXPECT_EQ(Dfa::strings(list, spent).error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::grammar
