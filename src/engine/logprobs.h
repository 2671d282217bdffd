// SPDX-License-Identifier: Apache-2.0
#pragma once

// Log-probabilities of a row of raw logits: of one id, and of the most probable ones.

#include <cstddef>
#include <span>
#include <vector>

#include "base/token.h"
#include "engine/generator.h"

namespace daybreak::engine {

// Returns the log-probability of an id with this logit; log_norm = log_sum_exp of the row.
[[nodiscard]] inline float logprob_of(float logit, double log_norm) {
  return static_cast<float>(static_cast<double>(logit) - log_norm);
}

// Returns the ids of the `count` largest logits (or all, if there are fewer), largest first, ties
// by id, with their log-probabilities logprob_of(logits[id], log_norm).
[[nodiscard]] std::vector<TokenLogprob> top_logprobs(std::span<const float> logits, double log_norm,
                                                     std::size_t count);

}  // namespace daybreak::engine
