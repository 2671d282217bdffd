// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "base/rng.h"

namespace daybreak::engine {
namespace {

using Row = std::vector<float>;

GenerateRequest request(const SamplingParams& sampling = {}) {
  GenerateRequest r;
  r.prompt = {0};
  r.max_tokens = 1'000'000;
  r.sampling = sampling;
  return r;
}

TokenId draw(Row row, const GenerateRequest& r) {
  SamplerScratch scratch;
  const Result<GeneratedToken> token = Sampler(r).next(row, scratch);
  EXPECT_TRUE(token) << token.error().message;
  return token ? token->id : 0;
}

// The ids that can be drawn from `row`, found by drawing with many seeds.
std::set<TokenId> support(const Row& row, GenerateRequest r, int draws = 3000) {
  std::set<TokenId> seen;
  for (int i = 0; i < draws; ++i) {
    r.sampling.seed = static_cast<std::uint64_t>(i);
    seen.insert(draw(row, r));
  }
  return seen;
}

Row logs(std::initializer_list<double> probabilities) {
  Row row;
  for (const double p : probabilities) {
    row.push_back(static_cast<float>(std::log(p)));
  }
  return row;
}

// Pearson's statistic of `draws` samples of one growing answer against softmax(row / temperature).
// Only Sampler is ours here: the expectation is computed with the standard library.
double chi_square(const Row& row, const SamplingParams& params, int draws) {
  std::vector<double> expected(row.size());
  double total = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    expected[i] = std::exp(static_cast<double>(row[i]) / static_cast<double>(params.temperature));
    total += expected[i];
  }
  std::vector<int> counts(row.size());
  Sampler sampler(request(params));
  SamplerScratch scratch;
  for (int i = 0; i < draws; ++i) {
    Row copy = row;
    ++counts[sampler.next(copy, scratch)->id];
  }
  double statistic = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double e = expected[i] / total * draws;
    statistic += (counts[i] - e) * (counts[i] - e) / e;
  }
  return statistic;
}

TEST(Sampler, DrawsInProportionToTheSoftmax) {
  // 99.99 % point of chi-square with 9 degrees of freedom. Seeds are fixed, so no flakes.
  constexpr double kLimit = 33.7;
  constexpr int kDraws = 50'000;
  double largest = 0;
  int runs = 0;
  const Row row = {0.5F, -1, 2, 1.5F, 0, -0.5F, 1, 0.25F, -2, 1.75F};
  for (const float temperature : {0.5F, 1.0F, 1.7F}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SamplingParams params;
      params.temperature = temperature;
      params.seed = seed;
      const double statistic = chi_square(row, params, kDraws);
      EXPECT_LT(statistic, kLimit) << temperature << " seed " << seed;
      largest = std::max(largest, statistic);
      ++runs;
    }
  }
  std::printf("PROOF sampling_chi2: largest %.1f of %d runs of %d draws, 9 degrees of freedom\n",
              largest, runs, kDraws);
}

TEST(Sampler, DrawsDifferentTokensForDifferentSeedsAndChoices) {
  const Row row(1000, 0.0F);
  SamplingParams params;
  const TokenId first = draw(row, request(params));
  EXPECT_EQ(first, draw(row, request(params)));
  params.choice = 1;
  EXPECT_NE(first, draw(row, request(params)));
  params.choice = 0;
  params.seed = 1;
  EXPECT_NE(first, draw(row, request(params)));
}

TEST(Sampler, NoiseFollowsTheAbsolutePosition) {
  // Prompt of 3 after one token == prompt of 4: the same position, hence the same draw.
  const Row row(1000, 0.0F);
  GenerateRequest three = request();
  three.prompt = {5, 6, 7};
  GenerateRequest four = request();
  four.prompt = {5, 6, 7, 8};
  Sampler sampler(three);
  SamplerScratch scratch;
  Row copy = row;
  const TokenId at_three = sampler.next(copy, scratch)->id;
  copy = row;
  const TokenId at_four = sampler.next(copy, scratch)->id;
  EXPECT_NE(at_three, at_four);
  EXPECT_EQ(at_four, draw(row, four));
}

TEST(Sampler, GreedyTakesTheLowestIdOfATie) {
  SamplingParams params;
  params.temperature = 0;
  EXPECT_EQ(draw({1, 3, 2, 3, 3}, request(params)), 1U);
  EXPECT_EQ(draw({-7, -7, -7}, request(params)), 0U);
}

TEST(Sampler, TopKKeepsTheFirstRanksTiesById) {
  SamplingParams params;
  params.top_k = 2;
  EXPECT_EQ(support({1, 2, 1, 1.5F}, request(params)), (std::set<TokenId>{1, 3}));
  EXPECT_EQ(support({1, 1, 1, 1}, request(params)), (std::set<TokenId>{0, 1}));
  params.top_k = 4;
  EXPECT_EQ(support({1, 1, 1, 1}, request(params)).size(), 4U);
}

TEST(Sampler, TopPKeepsTheShortestPrefixThatReachesIt) {
  SamplingParams params;
  const Row row = logs({0.1, 0.4, 0.2, 0.3});
  params.top_p = 0.39F;
  EXPECT_EQ(support(row, request(params)), (std::set<TokenId>{1}));
  params.top_p = 0.45F;
  EXPECT_EQ(support(row, request(params)), (std::set<TokenId>{1, 3}));
  params.top_p = 0.85F;
  EXPECT_EQ(support(row, request(params)), (std::set<TokenId>{1, 2, 3}));
  params.top_p = 0.95F;
  EXPECT_EQ(support(row, request(params)).size(), 4U);
  params.top_p = 1e-9F;
  EXPECT_EQ(support(row, request(params)), (std::set<TokenId>{1}));
}

TEST(Sampler, TopPIsMeasuredOnWhatTopKLeft) {
  SamplingParams params;
  params.top_k = 2;
  params.top_p = 0.55F;  // of {0.4, 0.3}: the first has 0.571
  EXPECT_EQ(support(logs({0.1, 0.4, 0.2, 0.3}), request(params)), (std::set<TokenId>{1}));
}

TEST(Sampler, MinPComparesWithTheMostProbable) {
  SamplingParams params;
  params.min_p = 0.45F;
  EXPECT_EQ(support(logs({0.1, 0.4, 0.2, 0.3}), request(params)), (std::set<TokenId>{1, 2, 3}));
  params.min_p = 1.0F;
  EXPECT_EQ(support({2, 1, 2}, request(params)), (std::set<TokenId>{0, 2}));
  params.top_k = 2;
  params.min_p = 0.8F;
  EXPECT_EQ(support(logs({0.1, 0.4, 0.2, 0.3}), request(params)), (std::set<TokenId>{1}));
}

TEST(Sampler, TypicalKeepsIdsOfOrdinarySurprise) {
  // Entropy of {0.5, 0.2, 0.2, 0.1} = 1.2206; surprises 0.693, 1.609, 1.609, 2.303: the two of 0.2
  // are closest (0.389), then 0.5 (0.527), then 0.1 (1.082).
  const Row row = logs({0.5, 0.2, 0.2, 0.1});
  SamplingParams params;
  params.typical_p = 0.15F;
  EXPECT_EQ(support(row, request(params)), (std::set<TokenId>{1}));  // a tie: by id
  params.typical_p = 0.35F;
  EXPECT_EQ(support(row, request(params)), (std::set<TokenId>{1, 2}));
  params.typical_p = 0.85F;
  EXPECT_EQ(support(row, request(params)), (std::set<TokenId>{0, 1, 2}));
  params.typical_p = 0.95F;
  EXPECT_EQ(support(row, request(params)).size(), 4U);
}

TEST(Sampler, FiltersOnlyNarrowTheSupportNotTheDraw) {
  // With the same noise, whatever survives and would have won still wins.
  Rng rng(1);
  SamplingParams wide;
  SamplingParams narrow;
  narrow.top_p = 0.9F;
  int same = 0;
  for (int i = 0; i < 500; ++i) {
    Row row(50);
    for (float& logit : row) {
      logit = rng.uniform() * 6;
    }
    wide.seed = narrow.seed = rng.next();
    same += draw(row, request(wide)) == draw(row, request(narrow)) ? 1 : 0;
  }
  EXPECT_GT(same, 400);
  EXPECT_LT(same, 500);
}

TEST(Sampler, RepetitionPenaltyCoversPromptAndOutput) {
  SamplingParams params;
  params.temperature = 0;
  params.repetition_penalty = 2;
  GenerateRequest r = request(params);
  r.prompt = {0, 0};
  EXPECT_EQ(draw({3, 2, 1}, r), 1U);        // 3 / 2 < 2, once however often it occurs
  EXPECT_EQ(draw({-1, -1.5F, -3}, r), 1U);  // -1 * 2 < -1.5
  Sampler sampler(r);
  SamplerScratch scratch;
  Row row = {3, 2, 1.2F};
  EXPECT_EQ(sampler.next(row, scratch)->id, 1U);
  row = {2, 2, 1.2F};
  EXPECT_EQ(sampler.next(row, scratch)->id, 2U);  // 1 is output now
}

TEST(Sampler, PresenceAndFrequencyCountTheOutputOnly) {
  SamplingParams params;
  params.temperature = 0;
  params.presence_penalty = 1;
  params.frequency_penalty = 0.5F;
  GenerateRequest r = request(params);
  r.prompt = {0, 0, 0};
  EXPECT_EQ(draw({2.0F, 1.5F, 0}, r), 0U);  // the prompt's occurrences cost nothing
  Sampler sampler(r);
  SamplerScratch scratch;
  std::vector<TokenId> ids;
  for (int i = 0; i < 4; ++i) {
    Row row = {3.4F, 1.6F, 0};
    ids.push_back(sampler.next(row, scratch)->id);
  }
  // 3.4 | 3.4 - 1.5 = 1.9 | 3.4 - 2 = 1.4 < 1.6 | 1.4 > 1.6 - 1.5
  EXPECT_EQ(ids, (std::vector<TokenId>{0, 0, 1, 0}));
}

TEST(Sampler, LogitBiasIsAddedAndForcesOrBans) {
  SamplingParams params;
  params.logit_bias = {{2, 100.0F}};
  EXPECT_EQ(support({5, 5, -5, 5}, request(params), 300), (std::set<TokenId>{2}));
  params.logit_bias = {{0, -100.0F}, {1, -100.0F}};
  EXPECT_EQ(support({5, 5, -5, 5}, request(params), 300), (std::set<TokenId>{3}));
}

TEST(Sampler, MinTokensMasksStopIdsUntilReached) {
  SamplingParams params;
  params.temperature = 0;
  GenerateRequest r = request(params);
  r.stop_ids = {2, 0};
  r.min_tokens = 2;
  Sampler sampler(r);
  SamplerScratch scratch;
  std::vector<TokenId> ids;
  for (int i = 0; i < 3; ++i) {
    Row row = {4, 1, 5};
    ids.push_back(sampler.next(row, scratch)->id);
  }
  EXPECT_EQ(ids, (std::vector<TokenId>{1, 1, 2}));
  EXPECT_TRUE(sampler.is_stop(0));
  EXPECT_FALSE(sampler.is_stop(1));
}

TEST(Sampler, RefusesARowWhereNothingIsLeft) {
  GenerateRequest r = request();
  r.stop_ids = {0, 1};
  r.min_tokens = 1;
  Row row = {1, 2};
  SamplerScratch scratch;
  const Result<GeneratedToken> token = Sampler(r).next(row, scratch);
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, Errc::kInvalidArgument);
}

TEST(Sampler, RefusesNonFiniteLogitsAndNamesThem) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf}) {
    for (const float temperature : {0.0F, 1.0F}) {
      SamplingParams params;
      params.temperature = temperature;
      Row row = {1, 2, bad, 3};
      SamplerScratch scratch;
      const Result<GeneratedToken> token = Sampler(request(params)).next(row, scratch);
      ASSERT_FALSE(token) << bad;
      EXPECT_EQ(token.error().code, Errc::kCorrupt);
      EXPECT_NE(token.error().message.find("token id 2 at position 1"), std::string::npos)
          << token.error().message;
    }
  }
}

TEST(Sampler, SurvivesExtremeFiniteLogitsAndTemperatures) {
  constexpr float kMax = std::numeric_limits<float>::max();
  SamplingParams params;
  for (const float temperature : {std::numeric_limits<float>::denorm_min(), 1e-30F, 2.0F}) {
    params.temperature = temperature;
    EXPECT_EQ(draw({-kMax, kMax, 0}, request(params)), 1U);
    EXPECT_LT(draw({kMax, kMax, kMax}, request(params)), 3U);
    EXPECT_LT(draw({-kMax, -kMax}, request(params)), 2U);
  }
  params.repetition_penalty = 0.1F;
  Row row = {kMax, 0};
  SamplerScratch scratch;
  EXPECT_FALSE(Sampler(request(params)).next(row, scratch));
}

TEST(Sampler, ReportsLogprobsOfTheRawDistribution) {
  SamplingParams params;
  params.temperature = 0.1F;
  params.logit_bias = {{0, 50.0F}};
  params.logprobs = 2;
  Row row = logs({0.1, 0.4, 0.2, 0.3});
  SamplerScratch scratch;
  const Result<GeneratedToken> token = Sampler(request(params)).next(row, scratch);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->id, 0U);
  EXPECT_NEAR(token->logprob, std::log(0.1), 1e-6);
  ASSERT_EQ(token->top.size(), 2U);
  EXPECT_EQ(token->top[0].id, 1U);
  EXPECT_NEAR(token->top[0].logprob, std::log(0.4), 1e-6);
  EXPECT_EQ(token->top[1].id, 3U);
}

TEST(Sampler, TopLogprobsAreOrderedWithTiesById) {
  SamplingParams params;
  params.logprobs = 20;
  Row row = {1, 2, 1, 2};
  SamplerScratch scratch;
  const Result<GeneratedToken> token = Sampler(request(params)).next(row, scratch);
  ASSERT_EQ(token->top.size(), 4U);
  EXPECT_EQ(token->top[0].id, 1U);
  EXPECT_EQ(token->top[1].id, 3U);
  EXPECT_EQ(token->top[2].id, 0U);
  EXPECT_EQ(token->top[3].id, 2U);
  params.logprobs = 0;
  row = {1, 2, 1, 2};
  EXPECT_TRUE(Sampler(request(params)).next(row, scratch)->top.empty());
}

}  // namespace
}  // namespace daybreak::engine
