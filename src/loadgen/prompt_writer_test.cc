// SPDX-License-Identifier: Apache-2.0
#include "loadgen/prompt_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "loadgen/words.h"
#include "testing/paths.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::loadgen {
namespace {

// The first `words` words of a text.
std::string first_words(std::string_view text, std::size_t words) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < words && at != text.npos; ++i) {
    at = text.find(' ', at + 1);
  }
  return std::string(text.substr(0, at));
}

std::size_t words_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, ' '));
}

std::shared_ptr<const tokenizer::Tokenizer> nano() {
  auto loaded = tokenizer::Tokenizer::load(testing::source_path("models/nano"));
  EXPECT_TRUE(loaded);
  return *std::move(loaded);
}

std::size_t tokens_in(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
  std::vector<TokenId> ids;
  tokenizer.encode(text, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
  return ids.size();
}

TEST(PromptWriter, EqualBlocksHaveEqualText) {
  const PromptWriter writer(common_words(), 1, 1);
  const std::vector<std::uint64_t> a = {7, 8};
  const std::vector<std::uint64_t> b = {7, 9};
  const std::vector<std::uint64_t> c = {9, 7};
  const auto text = [&](const auto& blocks, std::uint64_t tail) {
    return writer.write(
        {.scope = 0, .blocks = blocks, .block_tokens = 16, .tail = tail, .words = 40});
  };
  EXPECT_EQ(first_words(text(a, 1), 32), first_words(text(a, 2), 32));
  EXPECT_NE(text(a, 1), text(a, 2));  // what no block covers is of its own
  EXPECT_EQ(first_words(text(a, 1), 16), first_words(text(b, 1), 16));
  EXPECT_NE(first_words(text(a, 1), 20), first_words(text(b, 1), 20));
  // At another place too.
  EXPECT_EQ(first_words(text(b, 1), 32).substr(first_words(text(b, 1), 16).size()),
            first_words(text(c, 1), 16));
}

TEST(PromptWriter, ScopesAndSeedsAreApart) {
  const std::vector<std::uint64_t> blocks = {7};
  const auto text = [&](std::uint64_t seed, std::uint64_t scope) {
    return PromptWriter(common_words(), seed, 1)
        .write({.scope = scope, .blocks = blocks, .block_tokens = 16, .tail = 0, .words = 16});
  };
  EXPECT_EQ(text(1, 2), text(1, 2));
  EXPECT_NE(text(1, 2), text(1, 3));
  EXPECT_NE(text(1, 2), text(2, 2));
}

TEST(PromptWriter, ALongerPromptBeginsAsTheShorterOne) {
  const PromptWriter writer(common_words(), 1, 1);
  const std::vector<std::uint64_t> blocks = {7, 8, 9};
  const auto text = [&](std::size_t words) {
    return writer.write(
        {.scope = 0, .blocks = blocks, .block_tokens = 16, .tail = 5, .words = words});
  };
  for (const std::size_t words : {1U, 15U, 16U, 17U, 47U, 48U, 60U}) {
    EXPECT_EQ(words_in(text(words)), words);
    EXPECT_TRUE(text(61).starts_with(text(words)));
  }
}

TEST(PromptWriter, ScaledBlocksBeginAtTheSamePlaceInEveryPrompt) {
  const std::vector<std::uint64_t> a = {1, 2, 3, 4, 5};
  const std::vector<std::uint64_t> b = {1, 2, 3, 4, 6};
  for (const double scale : {0.3, 0.01, 2.5}) {
    const PromptWriter writer(common_words(), 1, scale);
    const auto text = [&](const auto& blocks) {
      return writer.write({.scope = 0,
                           .blocks = blocks,
                           .block_tokens = 64,
                           .tail = 0,
                           .words = writer.scaled(5 * 64)});
    };
    EXPECT_EQ(words_in(text(a)), writer.scaled(320));
    const auto shared = static_cast<std::size_t>(256 * scale);
    EXPECT_EQ(first_words(text(a), shared), first_words(text(b), shared));
  }
  // A block begins at the place rounded up: with 1.5 words a block the second at word 2.
  const std::vector<std::uint64_t> short_ones = {1, 2};
  const std::vector<std::uint64_t> first_alone = {1};
  const PromptWriter half(common_words(), 1, 0.5);
  const auto halved = [&](const auto& blocks) {
    return half.write({.scope = 0, .blocks = blocks, .block_tokens = 3, .tail = 0, .words = 3});
  };
  EXPECT_EQ(first_words(halved(short_ones), 2), first_words(halved(first_alone), 2));
  const PromptWriter writer(common_words(), 1, 0.01);
  EXPECT_EQ(writer.scaled(149), 1U);
  EXPECT_EQ(writer.scaled(150), 2U);
  EXPECT_EQ(writer.scaled(0), 1U);
}

// The whole vocabulary of words, in many orders: N words are N tokens.
TEST(PromptWriter, AWordIsATokenInAKnownVocabulary) {
  const auto tokenizer = nano();
  const Words words = *words_of(*tokenizer);
  EXPECT_GE(words.size(), 500U);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size());
  const PromptWriter writer(words, 3, 1);
  for (std::uint64_t tail = 0; tail < 20; ++tail) {
    const std::string text = writer.write({.blocks = {}, .tail = tail, .words = 5'000});
    ASSERT_EQ(tokens_in(*tokenizer, text), 5'000U);
  }
}

TEST(Words, CommonOnesAreDifferent) {
  const Words words = common_words();
  EXPECT_EQ(words.size(), 256U);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), 256U);
  for (const std::string& word : words) {
    EXPECT_TRUE(word.starts_with(' ') && word.size() >= 4 && words_in(word) == 1) << word;
  }
}

}  // namespace
}  // namespace daybreak::loadgen
