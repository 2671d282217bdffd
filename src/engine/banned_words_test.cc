// SPDX-License-Identifier: Apache-2.0
#include "engine/banned_words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>

#include "engine/sampler.h"
#include "engine/scripted_constraint.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

// The ids that are impossible after `ids`.
std::set<TokenId> banned(const std::vector<Ids>& words, const Ids& ids, std::size_t vocab = 8) {
  BannedWords state(words);
  for (const TokenId id : ids) {
    state.add(id);
  }
  std::vector<float> row(vocab, 1.0F);
  state.apply(row);
  std::set<TokenId> out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::isinf(row[i])) {
      out.insert(static_cast<TokenId>(i));
    }
  }
  return out;
}

TEST(BannedWords, OneIdIsAlwaysImpossible) {
  EXPECT_EQ(banned({{3}}, {}), (std::set<TokenId>{3}));
  EXPECT_EQ(banned({{3}, {5}}, {3, 1}), (std::set<TokenId>{3, 5}));
}

TEST(BannedWords, TheLastIdIsImpossibleAfterTheOthersOnly) {
  EXPECT_EQ(banned({{1, 2, 3}}, {}), (std::set<TokenId>{}));
  EXPECT_EQ(banned({{1, 2, 3}}, {2}), (std::set<TokenId>{})) << "half of what precedes it";
  EXPECT_EQ(banned({{1, 2, 3}}, {1, 2}), (std::set<TokenId>{3}));
  EXPECT_EQ(banned({{1, 2, 3}}, {1, 2, 4}), (std::set<TokenId>{}));
  EXPECT_EQ(banned({{1, 2, 3}}, {7, 7, 7, 1, 2}), (std::set<TokenId>{3}));
  EXPECT_EQ(banned({{1, 1, 1}}, {1, 1, 1, 1}), (std::set<TokenId>{1})) << "sequences overlap";
  EXPECT_EQ(banned({{1, 2}, {4, 1, 5}}, {4, 1}), (std::set<TokenId>{2, 5}));
}

// Against a search of the whole answer.
TEST(BannedWords, EqualsASearchOfTheWholeAnswer) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<Ids> words(1 + random() % 5);
    for (Ids& word : words) {
      for (std::size_t n = 1 + random() % 4; n > 0; --n) {
        word.push_back(static_cast<TokenId>(random() % 3));
      }
    }
    Ids answer;
    for (std::size_t n = random() % 12; n > 0; --n) {
      answer.push_back(static_cast<TokenId>(random() % 3));
    }
    std::set<TokenId> expected;
    for (const Ids& word : words) {
      Ids longer = answer;
      longer.push_back(word.back());
      if (longer.size() >= word.size() && std::equal(word.rbegin(), word.rend(), longer.rbegin())) {
        expected.insert(word.back());
      }
    }
    EXPECT_EQ(banned(words, answer, 3), expected) << round;
  }
}

// What sampling makes of the two fields, by answers that would otherwise be known.
GenerateRequest greedy() {
  GenerateRequest request;
  request.prompt = {0};
  request.max_tokens = 100;
  request.sampling.temperature = 0;
  return request;
}

Ids answer(const GenerateRequest& request, const std::vector<float>& row, std::size_t length) {
  Sampler sampler(request);
  SamplerScratch scratch;
  Ids ids;
  while (ids.size() < length) {
    std::vector<float> copy = row;
    const auto token = sampler.next(copy, scratch);
    EXPECT_TRUE(token) << (token ? "" : token.error().message);
    ids.push_back(token ? token->id : 999);
  }
  return ids;
}

std::string refused(const GenerateRequest& request, std::vector<float> row) {
  SamplerScratch scratch;
  const auto token = Sampler(request).next(row, scratch);
  EXPECT_FALSE(token);
  EXPECT_TRUE(token || token.error().code == Errc::kInvalidArgument);
  return token ? "" : token.error().message;
}

TEST(BannedWords, AnswersDoNotContainThem) {
  GenerateRequest request = greedy();
  EXPECT_EQ(answer(request, {1, 3, 2}, 4), (Ids{1, 1, 1, 1}));
  request.sampling.bad_words = {{1, 1}};
  EXPECT_EQ(answer(request, {1, 3, 2}, 5), (Ids{1, 2, 1, 2, 1}));
  request.sampling.bad_words = {{1}, {2, 2, 2}};
  EXPECT_EQ(answer(request, {1, 3, 2}, 5), (Ids{2, 2, 0, 2, 2}));
}

TEST(BannedWords, ThePromptTakesNoPart) {
  GenerateRequest request = greedy();
  request.prompt = {1};
  request.sampling.bad_words = {{1, 1}};
  EXPECT_EQ(answer(request, {1, 3, 2}, 2), (Ids{1, 2}));
}

TEST(BannedWords, BeatABiasAndHoldWithNoise) {
  GenerateRequest request = greedy();
  request.sampling.temperature = 1;
  request.sampling.logit_bias = {{1, 100.0F}};
  request.sampling.bad_words = {{1}};
  for (const TokenId id : answer(request, {1, 3, 2}, 200)) {
    EXPECT_NE(id, 1U);
  }
}

TEST(AllowedTokenIds, NothingElseIsDrawn) {
  GenerateRequest request = greedy();
  request.sampling.allowed_token_ids = {0, 40};
  std::vector<float> row(70, 5.0F);
  row[40] = 1;
  row[0] = 0;
  EXPECT_EQ(answer(request, row, 2), (Ids{40, 40}));
  request.sampling.temperature = 2;
  std::set<TokenId> seen;
  for (const TokenId id : answer(request, row, 300)) {
    seen.insert(id);
  }
  EXPECT_EQ(seen, (std::set<TokenId>{0, 40}));
}

TEST(AllowedTokenIds, StopIdsAreIdsLikeOthers) {
  GenerateRequest request = greedy();
  request.stop_ids = {2};
  request.sampling.allowed_token_ids = {0};
  EXPECT_EQ(answer(request, {1, 3, 9}, 3), (Ids{0, 0, 0}));
}

TEST(AllowedTokenIds, MeetTheMaskOfAConstraint) {
  GenerateRequest request = greedy();
  request.sampling.allowed_token_ids = {0, 1};
  request.constraint = ScriptedConstraint::factory([](const Ids&) { return mask_of(4, {1, 2}); });
  EXPECT_EQ(answer(request, {1, 2, 3, 4}, 2), (Ids{1, 1}));
  request.sampling.allowed_token_ids = {0};
  EXPECT_EQ(
      refused(request, {1, 2, 3, 4}),
      "allowed_token_ids: expected a token id that may come next in the form of the answer at "
      "position 1, found none");
}

TEST(AllowedTokenIds, FieldsThatTogetherForbidEverythingAreNamed) {
  GenerateRequest request = greedy();
  request.stop_ids = {0};
  request.min_tokens = 1;
  request.sampling.allowed_token_ids = {0, 1};
  request.sampling.bad_words = {{1}};
  EXPECT_EQ(
      refused(request, {1, 2, 3}),
      "allowed_token_ids: expected a token id that may come next beside bad_words and min_tokens "
      "at position 1, found none");
  request.min_tokens = 0;
  EXPECT_EQ(answer(request, {1, 2, 3}, 1), (Ids{0}));
}

TEST(AllowedTokenIds, LogprobsStayThoseOfTheModel) {
  GenerateRequest request = greedy();
  request.sampling.logprobs = 1;
  std::vector<float> row = {1, 3, 2};
  SamplerScratch scratch;
  const auto free = Sampler(request).next(row, scratch);
  request.sampling.allowed_token_ids = {0};
  request.sampling.bad_words = {{2}};
  row = {1, 3, 2};
  const auto held = Sampler(request).next(row, scratch);
  ASSERT_TRUE(free && held);
  EXPECT_EQ(held->top, free->top);
  EXPECT_EQ(held->id, 0U);
  EXPECT_LT(held->logprob, free->logprob);
}

}  // namespace
}  // namespace daybreak::engine
