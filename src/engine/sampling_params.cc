// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling_params.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace daybreak::engine {
namespace {

struct Range {
  float low;
  bool low_allowed;
  float high;
};

// A NaN fails both comparisons and is refused with the rest.
Status check(std::string_view field, float value, Range range) {
  const bool above = range.low_allowed ? value >= range.low : value > range.low;
  if (above && value <= range.high) {
    return ok();
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("{}: expected a number in {}{}, {}], found {}", field,
                           range.low_allowed ? '[' : '(', range.low, range.high, value)};
}

Status check_bias(const std::vector<std::pair<TokenId, float>>& bias, std::size_t vocab_size) {
  if (bias.size() > kMaxLogitBiasEntries) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("logit_bias: expected at most {} entries, found {}",
                             kMaxLogitBiasEntries, bias.size())};
  }
  std::vector<TokenId> ids;
  ids.reserve(bias.size());
  for (const auto& [id, value] : bias) {
    if (id >= vocab_size) {
      return Error{
          Errc::kInvalidArgument,
          fmt::format("logit_bias: expected token ids below {}, found {}", vocab_size, id)};
    }
    DAYBREAK_CHECK_OK(
        check(fmt::format("logit_bias[{}]", id), value, {-kMaxLogitBias, true, kMaxLogitBias}));
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end()) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("logit_bias: expected distinct token ids, found {} twice", *twice)};
  }
  return ok();
}

Status check_id(std::string_view field, TokenId id, std::size_t vocab_size) {
  return id < vocab_size ? ok()
                         : Status(Error{Errc::kInvalidArgument,
                                        fmt::format("{}: expected token ids below {}, found {}",
                                                    field, vocab_size, id)});
}

Status check_bad_words(const std::vector<std::vector<TokenId>>& words, std::size_t vocab_size) {
  if (words.size() > kMaxBadWords) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("bad_words: expected at most {} sequences, found {}", kMaxBadWords,
                             words.size())};
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].empty() || words[i].size() > kMaxBadWordTokens) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("bad_words[{}]: expected 1 to {} token ids, found {}", i,
                               kMaxBadWordTokens, words[i].size())};
    }
    for (const TokenId id : words[i]) {
      DAYBREAK_CHECK_OK(check_id("bad_words", id, vocab_size));
    }
  }
  return ok();
}

}  // namespace

Status validate(const SamplingParams& params, std::size_t vocab_size) {
  DAYBREAK_CHECK_OK(check("temperature", params.temperature, {0, true, kMaxTemperature}));
  DAYBREAK_CHECK_OK(check("top_p", params.top_p, {0, false, 1}));
  DAYBREAK_CHECK_OK(check("min_p", params.min_p, {0, true, 1}));
  DAYBREAK_CHECK_OK(check("typical_p", params.typical_p, {0, false, 1}));
  DAYBREAK_CHECK_OK(
      check("repetition_penalty", params.repetition_penalty, {0, false, kMaxRepetitionPenalty}));
  DAYBREAK_CHECK_OK(check("presence_penalty", params.presence_penalty,
                          {-kMaxAdditivePenalty, true, kMaxAdditivePenalty}));
  DAYBREAK_CHECK_OK(check("frequency_penalty", params.frequency_penalty,
                          {-kMaxAdditivePenalty, true, kMaxAdditivePenalty}));
  if (params.top_k < 0) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("top_k: expected 0 (off) or more, found {}", params.top_k)};
  }
  if (params.logprobs.has_value() && *params.logprobs > kMaxTopLogprobs) {
    return Error{Errc::kInvalidArgument, fmt::format("logprobs: expected at most {}, found {}",
                                                     kMaxTopLogprobs, *params.logprobs)};
  }
  for (const TokenId id : params.allowed_token_ids) {
    DAYBREAK_CHECK_OK(check_id("allowed_token_ids", id, vocab_size));
  }
  DAYBREAK_CHECK_OK(check_bad_words(params.bad_words, vocab_size));
  return check_bias(params.logit_bias, vocab_size);
}

}  // namespace daybreak::engine
