// SPDX-License-Identifier: Apache-2.0
#include "engine/prompt_lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

// Letters for ids.
Ids ids_of(std::string_view text) { return {text.begin(), text.end()}; }

std::string guess(std::string_view text, std::size_t count, std::size_t min_match = 3) {
  PromptLookup lookup(min_match);
  lookup.append(ids_of(text));
  Ids out(count);
  out.resize(lookup.propose(out));
  return {out.begin(), out.end()};
}

TEST(PromptLookup, ReadsOnFromWhereTheLastIdsWereBefore) {
  EXPECT_EQ(guess("the cat sat; the c", 4), "at s");
  EXPECT_EQ(guess("the cat sat; the c", 1), "a");
}

TEST(PromptLookup, FindsNothingWhereLessThanTheMinimumRepeats) {
  EXPECT_EQ(guess("abcdef xb", 3), "");
  EXPECT_EQ(guess("abcdefab", 3), "");
  EXPECT_EQ(guess("abcdefab", 3, 2), "cde");
  EXPECT_EQ(guess("", 3), "");
  EXPECT_EQ(guess("ab", 3), "");
}

TEST(PromptLookup, OfSeveralPlacesTheLongestAgreementDecidesThenTheLatest) {
  EXPECT_EQ(guess("1abcX 2abcY 1abc", 1), "X");
  EXPECT_EQ(guess("1abcX 2abcY 3abc", 1), "Y");
}

TEST(PromptLookup, WhatRepeatsWithAShortPeriodIsGuessedFar) {
  EXPECT_EQ(guess("ababab", 7), "abababa");
  EXPECT_EQ(guess("xaaaa", 5), "aaaaa");
}

// Against a search through all places, which the chains must not miss a match of.
TEST(PromptLookup, AgreesWithASearchThroughTheWholeSequence) {
  std::mt19937 rng(1);
  std::size_t found = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t min_match = 1 + rng() % 4;
    PromptLookup lookup(min_match);
    Ids ids;
    const TokenId kinds = 40;  // few enough to repeat, more places than are looked at do not
    while (ids.size() < 120) {
      Ids piece(1 + rng() % 9);
      std::ranges::generate(piece, [&] { return static_cast<TokenId>(rng() % kinds); });
      ids.insert(ids.end(), piece.begin(), piece.end());
      lookup.append(piece);
      std::size_t best = 0;
      std::size_t agreed = min_match - 1;
      for (std::size_t place = ids.size() - 1; place >= 1; --place) {
        std::size_t count = 0;
        while (count < std::min(place, kMaxLookupIds) &&
               ids[place - count - 1] == ids[ids.size() - count - 1]) {
          ++count;
        }
        if (count > agreed) {
          best = place;
          agreed = count;
        }
      }
      Ids out(1);
      ASSERT_EQ(lookup.propose(out), best == 0 ? 0U : 1U);
      if (best != 0) {
        ASSERT_EQ(out[0], ids[best]);
        ++found;
      }
    }
  }
  EXPECT_GT(found, 500U);
}

}  // namespace
}  // namespace daybreak::engine
