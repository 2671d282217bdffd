// SPDX-License-Identifier: Apache-2.0
#include "loadgen/synthetic.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace daybreak::loadgen {
namespace {

std::vector<Conversation> all_of(const SyntheticOptions& options) {
  auto source = synthetic_trace(options);
  EXPECT_TRUE(source);
  std::vector<Conversation> out;
  for (auto next = (*source)->next(); next && *next; next = (*source)->next()) {
    EXPECT_EQ((*next)->turns.size(), 1U);
    out.push_back(**std::move(next));
  }
  return out;
}

TEST(Synthetic, LengthsAreThoseAskedForOrWithinTheirRange) {
  for (const Conversation& each :
       all_of({.requests = 50, .input_tokens = 300, .output_tokens = 7})) {
    EXPECT_EQ(each.turns[0].input_tokens, 300U);
    EXPECT_EQ(each.turns[0].output_tokens, 7U);
    EXPECT_TRUE(each.turns[0].blocks.empty());
  }
  std::set<std::size_t> seen;
  const auto varied =
      all_of({.requests = 500, .input_tokens = 10, .output_tokens = 1, .range_ratio = 0.25});
  for (const Conversation& each : varied) {
    seen.insert(each.turns[0].input_tokens);
    EXPECT_GE(each.turns[0].output_tokens, 1U);
    EXPECT_LE(each.turns[0].output_tokens, 2U);
  }
  EXPECT_EQ(seen, (std::set<std::size_t>{7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(varied.size(), 500U);
}

TEST(Synthetic, SharedPrefixesAreAFew) {
  std::set<std::uint64_t> prefixes;
  for (const Conversation& each : all_of({.kind = SyntheticKind::kSharedPrefix,
                                          .requests = 200,
                                          .input_tokens = 100,
                                          .prefix_tokens = 60,
                                          .prefixes = 5})) {
    EXPECT_EQ(each.block_tokens, 60U);
    ASSERT_EQ(each.turns[0].blocks.size(), 1U);
    prefixes.insert(each.turns[0].blocks[0]);
  }
  EXPECT_EQ(prefixes, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(Synthetic, SonnetsBeginAlikeAndGoOnWithLinesOfOnePoem) {
  const auto all = all_of(
      {.kind = SyntheticKind::kSonnet, .requests = 20, .input_tokens = 165, .prefix_tokens = 80});
  std::set<std::vector<std::uint64_t>> different;
  for (const Conversation& each : all) {
    const auto& lines = each.turns[0].blocks;
    EXPECT_EQ(each.block_tokens, kSonnetLineTokens);
    ASSERT_EQ(lines.size(), 21U);  // 165 tokens of 8 a line
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_LT(lines[i], kSonnetLines);
      EXPECT_TRUE(i >= 10 || lines[i] == i);
    }
    different.insert(lines);
  }
  EXPECT_EQ(different.size(), all.size());
}

TEST(Synthetic, FollowsFromTheSeed) {
  const auto lengths = [](std::uint64_t seed) {
    std::vector<std::size_t> out;
    for (const Conversation& each : all_of({.requests = 30, .range_ratio = 0.5, .seed = seed})) {
      out.push_back(each.turns[0].input_tokens);
    }
    return out;
  };
  EXPECT_EQ(lengths(4), lengths(4));
  EXPECT_NE(lengths(4), lengths(5));
}

TEST(Synthetic, APromptIsAtLeastWhatItShares) {
  SyntheticOptions options{
      .kind = SyntheticKind::kSharedPrefix, .input_tokens = 100, .prefix_tokens = 100};
  EXPECT_TRUE(synthetic_trace(options));
  options.prefix_tokens = 101;
  const auto refused = synthetic_trace(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "--prefix-len: expected at most the shortest prompt, 100, found 101");
  options.kind = SyntheticKind::kRandom;
  EXPECT_TRUE(synthetic_trace(options));
}

}  // namespace
}  // namespace daybreak::loadgen
