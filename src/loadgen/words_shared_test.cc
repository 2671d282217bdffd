// SPDX-License-Identifier: Apache-2.0
// In K3's vocabulary a word is a token, those for unknown vocabularies included.

#include <gtest/gtest.h>

#include "loadgen/prompt_writer.h"
#include "loadgen/words.h"
#include "testing/paths.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::loadgen {
namespace {

TEST(WordsOfK3, AreOneTokenEach) {
  const auto path = testing::shared_path("tokenizer/kimi-k3");
  DAYBREAK_SHARED_OR_SKIP(path);
  const auto tokenizer = tokenizer::Tokenizer::load(path);
  ASSERT_TRUE(tokenizer);
  const Words known = *words_of(**tokenizer);
  EXPECT_EQ(known.size(), kMaxWords);
  for (const Words& words : {known, common_words()}) {
    const std::string text = PromptWriter(words, 1, 1).write({.blocks = {}, .words = 100'000});
    std::vector<TokenId> ids;
    (*tokenizer)->encode(text, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOff, ids);
    EXPECT_EQ(ids.size(), 100'000U);
    // The released tokenizer cuts long texts every 400,000 characters, where a word may stand.
    constexpr std::size_t kCut = 400'000;
    ids.clear();
    (*tokenizer)->encode(text, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
    EXPECT_GE(ids.size(), 100'000U);
    EXPECT_LE(ids.size(), 100'000U + 3 * (text.size() / kCut));
  }
}

}  // namespace
}  // namespace daybreak::loadgen
