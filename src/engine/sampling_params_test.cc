// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling_params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace daybreak::engine {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(SamplingParams, DefaultsAreValid) { EXPECT_TRUE(validate({}, 10)); }

TEST(SamplingParams, EveryFieldIsAcceptedAtItsBoundsAndRefusedBeyond) {
  struct Case {
    const char* field;
    float SamplingParams::* member;
    std::vector<float> good;
    std::vector<float> bad;
  };
  const float below_two = std::nextafter(2.0F, 3.0F);
  const Case cases[] = {
      {"temperature", &SamplingParams::temperature, {0, 2}, {-0.001F, below_two, kNan}},
      {"top_p", &SamplingParams::top_p, {1e-30F, 1}, {0, std::nextafter(1.0F, 2.0F), kNan}},
      {"min_p", &SamplingParams::min_p, {0, 1}, {-1e-9F, std::nextafter(1.0F, 2.0F), kNan}},
      {"typical_p", &SamplingParams::typical_p, {1e-30F, 1}, {0, 1.5F, kNan}},
      {"repetition_penalty", &SamplingParams::repetition_penalty, {1e-30F, 10}, {0, 10.01F, kNan}},
      {"presence_penalty", &SamplingParams::presence_penalty, {-2, 2}, {-2.1F, below_two, kNan}},
      {"frequency_penalty", &SamplingParams::frequency_penalty, {-2, 2}, {-2.1F, below_two, kNan}},
  };
  for (const Case& c : cases) {
    for (const float value : c.good) {
      SamplingParams params;
      params.*c.member = value;
      EXPECT_TRUE(validate(params, 10)) << c.field << " " << value;
    }
    for (const float value : c.bad) {
      SamplingParams params;
      params.*c.member = value;
      const Status status = validate(params, 10);
      ASSERT_FALSE(status) << c.field << " " << value;
      EXPECT_EQ(status.error().code, Errc::kInvalidArgument);
      EXPECT_EQ(status.error().message.rfind(c.field, 0), 0U) << status.error().message;
    }
  }
}

TEST(SamplingParams, CountsAreBounded) {
  SamplingParams params;
  params.top_k = -1;
  EXPECT_FALSE(validate(params, 10));
  params.top_k = 1 << 30;
  EXPECT_TRUE(validate(params, 10));
  params.logprobs = kMaxTopLogprobs;
  EXPECT_TRUE(validate(params, 10));
  params.logprobs = kMaxTopLogprobs + 1;
  EXPECT_FALSE(validate(params, 10));
}

TEST(SamplingParams, LogitBiasIsBoundedDistinctAndInsideTheVocabulary) {
  SamplingParams params;
  for (TokenId id = 0; id < kMaxLogitBiasEntries; ++id) {
    params.logit_bias.emplace_back(id, 1.0F);
  }
  EXPECT_TRUE(validate(params, 5000));
  EXPECT_FALSE(validate(params, kMaxLogitBiasEntries - 1));
  params.logit_bias.emplace_back(2000, 1.0F);
  EXPECT_FALSE(validate(params, 5000));
  params.logit_bias = {{3, 1.0F}, {3, 2.0F}};
  EXPECT_EQ(validate(params, 10).error().message,
            "logit_bias: expected distinct token ids, found 3 twice");
  params.logit_bias = {{3, 100.0F}};
  EXPECT_TRUE(validate(params, 10));
  params.logit_bias = {{3, 100.1F}};
  EXPECT_EQ(validate(params, 10).error().message,
            "logit_bias[3]: expected a number in [-100, 100], found 100.1");
}

TEST(SamplingParams, AllowedIdsAndBadWordsAreBoundedAndInsideTheVocabulary) {
  SamplingParams params;
  params.allowed_token_ids = {0, 9};
  params.bad_words = {{9}, {0, 1, 2}};
  EXPECT_TRUE(validate(params, 10));
  EXPECT_EQ(validate(params, 9).error().message,
            "allowed_token_ids: expected token ids below 9, found 9");
  params.allowed_token_ids.clear();
  EXPECT_EQ(validate(params, 9).error().message, "bad_words: expected token ids below 9, found 9");
  params.bad_words = {{1}, {}};
  EXPECT_EQ(validate(params, 10).error().message,
            "bad_words[1]: expected 1 to 1024 token ids, found 0");
  params.bad_words = {std::vector<TokenId>(kMaxBadWordTokens, 1)};
  EXPECT_TRUE(validate(params, 10));
  params.bad_words[0].push_back(1);
  EXPECT_FALSE(validate(params, 10));
  params.bad_words.assign(kMaxBadWords, {1});
  EXPECT_TRUE(validate(params, 10));
  params.bad_words.push_back({1});
  EXPECT_EQ(validate(params, 10).error().message,
            "bad_words: expected at most 256 sequences, found 257");
}

}  // namespace
}  // namespace daybreak::engine
