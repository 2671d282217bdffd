// SPDX-License-Identifier: Apache-2.0
#pragma once

// TokenHistory: which ids a request has read and written, and the penalties that follow from it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "base/token.h"
#include "engine/sampling_params.h"

namespace daybreak::engine {

// Grows by at most one entry per distinct id of prompt and output. Not thread-safe.
class TokenHistory {
 public:
  explicit TokenHistory(std::span<const TokenId> prompt);

  // Records a generated id.
  void add(TokenId id) { ++entries_[id].generated; }

  // Changes `logits` in place, per id seen:
  //   repetition_penalty r (prompt and output): l > 0 ? l / r : l * r
  //   frequency_penalty f (output): l -= f * count;  presence_penalty p (output): l -= p
  // in this order. REQUIRES: every id < logits.size().
  // Source: repetition as Keskar et al. 2019 and transformers, the others as the OpenAI API.
  void penalise(std::span<float> logits, const SamplingParams& params) const;

 private:
  struct Entry {
    std::uint32_t generated = 0;
  };
  std::unordered_map<TokenId, Entry> entries_;
};

}  // namespace daybreak::engine
