// SPDX-License-Identifier: Apache-2.0
#include "grammar/string_masks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace daybreak::grammar {
namespace {

const std::vector<std::string_view> kTokens{"a",    "b",  "ab", "\"", "a\"",  "\",\"", "\\",
                                            "\\\"", "u0", "\n", "ab", "\xC3", "a\":",  "abcd"};

class StringMasksTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const StringLanguage> language(std::vector<std::string> strings,
                                                        std::uint32_t least = 0,
                                                        std::uint32_t most = kNoMaxChars) {
    Budget budget(1'000'000);
    auto dfa = strings.empty() ? Dfa::all() : *Dfa::strings(strings, budget);
    return *StringLanguage::make(std::make_shared<const Dfa>(std::move(dfa)), least, most, budget);
  }

  static std::set<std::string> texts(std::span<const TokenId> ids) {
    std::set<std::string> out;
    for (const TokenId id : ids) {
      out.emplace(kTokens[id]);
    }
    return out;
  }

  static std::set<TokenId> inside(const StringMask& mask) {
    std::set<TokenId> ids(mask.list.begin(), mask.list.end());
    for (TokenId id = 0; mask.row && id < 32; ++id) {
      if (((*mask.row)[0] >> id & 1) != 0) {
        ids.insert(id);
      }
    }
    return ids;
  }

  const TokenTrie trie{kTokens};
  StringMasks masks{trie, 1, std::size_t{1} << 20};
};

TEST_F(StringMasksTest, OfAnyText) {
  const auto mask = masks.find(StringLanguage::all(), StringCoding::kJson, {});
  EXPECT_EQ(inside(*mask), (std::set<TokenId>{0, 1, 2, 6, 7, 8, 10, 11, 13}));
  ASSERT_EQ(mask->exits.size(), 3U);
  EXPECT_EQ(mask->exits[0].rest, TokenTrie::kRoot);
  EXPECT_EQ(texts(mask->exits[0].ids), (std::set<std::string>{"\"", "a\""}));
  EXPECT_EQ(texts(mask->exits[1].ids), (std::set<std::string>{"\",\""}));
  EXPECT_EQ(texts(mask->exits[2].ids), (std::set<std::string>{"a\":"}));
  const auto raw = masks.find(StringLanguage::all(), StringCoding::kRaw, {});
  EXPECT_EQ(inside(*raw).size(), kTokens.size());
  EXPECT_TRUE(raw->exits.empty());
}

TEST_F(StringMasksTest, OfAFewStrings) {
  const auto few = language({"a", "abb"});
  const auto mask = masks.find(few, StringCoding::kJson, {});
  EXPECT_EQ(inside(*mask), (std::set<TokenId>{0, 2, 6, 10}));
  std::set<std::string> exits;
  for (const StringExit& exit : mask->exits) {
    exits.merge(texts(exit.ids));
    EXPECT_EQ(exit.state, few->dfa().next(Dfa::kStart, 'a'));
  }
  EXPECT_EQ(exits, (std::set<std::string>{"a\"", "a\":"}));
}

TEST_F(StringMasksTest, WithinAnEscape) {
  StringState state;
  ASSERT_EQ(step(*StringLanguage::all(), StringCoding::kJson, state, '\\'), StringStep::kInside);
  const auto mask = masks.find(StringLanguage::all(), StringCoding::kJson, state);
  EXPECT_EQ(inside(*mask), (std::set<TokenId>{1, 3, 6, 8}));
  // The first quote is escaped by what stands before the token, the second one closes; and what
  // escapes a quote in text is itself escaped.
  ASSERT_EQ(mask->exits.size(), 1U);
  EXPECT_EQ(texts(mask->exits[0].ids), (std::set<std::string>{"\",\"", "\\\""}));
}

TEST_F(StringMasksTest, OfABoundedLength) {
  const auto three = language({}, 2, 3);
  StringState state;
  const auto from_start = masks.find(three, StringCoding::kJson, state);
  EXPECT_EQ(inside(*from_start), (std::set<TokenId>{0, 1, 2, 6, 7, 8, 10, 11}));
  EXPECT_TRUE(from_start->exits.empty());
  for (const char byte : std::string_view("ab")) {
    ASSERT_EQ(step(*three, StringCoding::kJson, state, static_cast<std::uint8_t>(byte)),
              StringStep::kInside);
  }
  const auto near_end = masks.find(three, StringCoding::kJson, state);
  EXPECT_EQ(inside(*near_end), (std::set<TokenId>{0, 1, 6, 7, 11}));
  EXPECT_FALSE(near_end->exits.empty());
}

// Two languages of any text with as much left to go are one entry.
TEST_F(StringMasksTest, SharesEntriesOfEqualMeaning) {
  const auto before = masks.stats();
  const auto first = masks.find(language({}, 0, 1000), StringCoding::kJson, {});
  EXPECT_EQ(masks.find(language({}, 0, 2000), StringCoding::kJson, {}), first);
  EXPECT_EQ(masks.find(StringLanguage::all(), StringCoding::kJson, {}), first);
  EXPECT_EQ(masks.stats().misses, before.misses);
  EXPECT_EQ(masks.stats().hits, before.hits + 3);
}

TEST_F(StringMasksTest, KeepsWithinItsBytes) {
  constexpr std::size_t kBytes = 16384;
  StringMasks small(trie, 1, kBytes);
  const auto held = small.find(language({"a"}), StringCoding::kJson, {});
  const std::set<TokenId> before = inside(*held);
  for (int i = 0; i < 200; ++i) {
    (void)small.find(language({"a"}), StringCoding::kJson, {});
    EXPECT_LE(small.stats().bytes, kBytes);
  }
  EXPECT_LT(small.stats().entries, 200U);
  EXPECT_EQ(inside(*held), before);  // long gone from the cache
  StringMasks none(trie, 1, 0);
  EXPECT_EQ(inside(*none.find(language({"a"}), StringCoding::kJson, {})), before);
  EXPECT_EQ(none.stats().entries, 0U);
}

TEST_F(StringMasksTest, NumbersTheRests) {
  const TokenTrie& rests = masks.rests();
  ASSERT_NE(rests.child(TokenTrie::kRoot, ','), TokenTrie::kRoot);
  EXPECT_NE(rests.child(rests.child(TokenTrie::kRoot, ','), '"'), TokenTrie::kRoot);
  EXPECT_NE(rests.child(TokenTrie::kRoot, ':'), TokenTrie::kRoot);
  EXPECT_EQ(rests.nodes(), 4U);
}

}  // namespace
}  // namespace daybreak::grammar
