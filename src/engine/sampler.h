// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sampler: chooses the next id of one request from a row of logits (numerics rule 8). In order:
//   1. a NaN or an infinity anywhere in the row is an error
//   2. log-probabilities to report: softmax of the raw row
//   3. repetition, frequency, presence penalties (token_history.h)
//   4. logit_bias, added
//   5. stop ids become impossible while fewer than min_tokens ids exist
//   6. temperature 0: the largest logit, ties to the lowest id; nothing below applies
//   7. (logit - max) / temperature
//   8. top_k, top_p, min_p, typical_p (candidates.h)
//   9. argmax of log-weight + Gumbel noise keyed by (seed, choice, position, id) (gumbel.h)
// The result depends on the row, the request and its own ids alone: never on the batch, on timing
// or on how the work is split.

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/candidates.h"
#include "engine/generator.h"
#include "engine/token_history.h"

namespace daybreak::engine {

// Memory that sampling needs while it runs; one per thread, shared by all its samplers.
struct SamplerScratch {
  std::vector<Candidate> candidates;
  std::vector<float> raw;  // [vocab], when log-probabilities are reported
};

// Not thread-safe.
class Sampler {
 public:
  // Copies what it needs. REQUIRES: check_admissible(request, ...) is ok.
  explicit Sampler(const GenerateRequest& request);

  // Draws and records the next token. `logits` [vocab] is overwritten.
  // Errors: kCorrupt         a logit is not finite; names the id and the position
  //         kInvalidArgument min_tokens leaves no id to choose from, or penalties overflow a logit
  [[nodiscard]] Result<GeneratedToken> next(std::span<float> logits, SamplerScratch& scratch);

  // Returns whether `id` ends the answer.
  [[nodiscard]] bool is_stop(TokenId id) const;
  [[nodiscard]] std::size_t generated() const { return generated_; }

 private:
  void shape(std::span<float> logits) const;  // steps 3 to 5
  // Steps 7 to 9.
  TokenId draw(std::span<float> logits, TokenId largest, SamplerScratch& scratch) const;

  SamplingParams params_;
  std::vector<TokenId> stop_ids_;
  std::size_t min_tokens_;
  std::size_t prompt_tokens_;
  std::size_t generated_ = 0;
  TokenHistory history_;
};

}  // namespace daybreak::engine
