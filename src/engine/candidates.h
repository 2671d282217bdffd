// SPDX-License-Identifier: Apache-2.0
#pragma once

// Candidates: the ids that top_k, top_p, min_p and typical_p leave to choose from.

#include <cstddef>
#include <span>
#include <vector>

#include "base/token.h"
#include "engine/sampling_params.h"

namespace daybreak::engine {

struct Candidate {
  float weight = 0.0F;  // log-weight: temperature-scaled logit less the row's maximum, so <= 0
  TokenId id = 0;
};

// Returns whether any of the four filters is on.
[[nodiscard]] bool has_filters(const SamplingParams& params);

// Applies the filters to a row of log-weights (0 at its maximum, -inf = impossible) and returns
// what is left, never empty, as a span of `storage`. In this order, each on what the one before
// left, with ranks by (weight descending, id ascending):
//   top_k      the first k ranks
//   top_p      the shortest run of first ranks whose probabilities sum to top_p or more
//   min_p      ids at least min_p times as probable as the most probable one
//   typical_p  ids by closeness of their surprise to the entropy (ties by id), the shortest run
//              that sums to typical_p or more (Meister et al. 2022)
// Probabilities are renormalised over what is left before top_p and before typical_p. All sums run
// in a fixed order. REQUIRES: the row's maximum is 0; row.size() fits a TokenId.
[[nodiscard]] std::span<const Candidate> filter_candidates(std::span<const float> row,
                                                           const SamplingParams& params,
                                                           std::vector<Candidate>& storage);

}  // namespace daybreak::engine
