// SPDX-License-Identifier: Apache-2.0
#pragma once

// SamplingParams: how one token is chosen from a row of logits. Plain data with the neutral value
// of every field as its default; sampler.h says in which order the fields are applied.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::engine {

// Bounds of one request's sampling parameters, each checked by validate().
inline constexpr float kMaxTemperature = 2.0F;
inline constexpr float kMaxRepetitionPenalty = 10.0F;
inline constexpr float kMaxAdditivePenalty = 2.0F;  // of presence and frequency, either sign
inline constexpr float kMaxLogitBias = 100.0F;      // either sign
inline constexpr std::size_t kMaxLogitBiasEntries = 1024;
inline constexpr std::uint32_t kMaxTopLogprobs = 20;
inline constexpr std::size_t kMaxBadWords = 256;        // sequences
inline constexpr std::size_t kMaxBadWordTokens = 1024;  // of one sequence

struct SamplingParams {
  float temperature = 1.0F;  // 0 = greedy: the largest logit, ties to the lowest id
  float top_p = 1.0F;        // (0, 1]; 1 = off
  int top_k = 0;             // 0 = off
  float min_p = 0.0F;        // [0, 1]; 0 = off
  float typical_p = 1.0F;    // (0, 1]; 1 = off
  // Divides positive and multiplies negative logits of every id in the prompt or the output.
  float repetition_penalty = 1.0F;
  // Subtracted once from every id of the output, and once per occurrence in the output.
  float presence_penalty = 0.0F;
  float frequency_penalty = 0.0F;
  std::vector<std::pair<TokenId, float>> logit_bias = {};  // added; ids distinct
  // The only ids that may be drawn; empty: all. Stop ids and markers are ids like others.
  std::vector<TokenId> allowed_token_ids = {};
  // Sequences the answer must not contain: their last id becomes impossible after the others.
  std::vector<std::vector<TokenId>> bad_words = {};
  std::uint64_t seed = 0;    // of the noise, see gumbel.h
  std::uint32_t choice = 0;  // which of several answers to one prompt
  // Number of alternatives reported with each token; unset = no log-probabilities at all.
  std::optional<std::uint32_t> logprobs = {};
};

// Checks every field against its range and every id in it against the vocabulary.
// Errors: kInvalidArgument naming the field, the range and the value found.
[[nodiscard]] Status validate(const SamplingParams& params, std::size_t vocab_size);

}  // namespace daybreak::engine
