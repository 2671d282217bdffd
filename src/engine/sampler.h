// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sampler: chooses the next id of one request from a row of logits (numerics rule 8). In order:
//   1. a NaN or an infinity anywhere in the row is an error
//   2. log-probabilities to report: softmax of the raw row
//   3. repetition, frequency, presence penalties (token_history.h)
//   4. logit_bias, added
//   5. ids outside the constraint's mask (token_constraint.h) and outside allowed_token_ids become
//      impossible, and those that would complete one of bad_words (banned_words.h)
//   6. stop ids become impossible while fewer than min_tokens ids exist, unless the mask has none
//      but stop ids: an answer that is complete ends
//   7. temperature 0: the largest logit, ties to the lowest id; nothing below applies
//   8. (logit - max) / temperature
//   9. top_k, top_p, min_p, typical_p (candidates.h)
//  10. argmax of log-weight + Gumbel noise keyed by (seed, choice, position, id) (gumbel.h)
// The result depends on the row, the request and its own ids alone: never on the batch, on timing
// or on how the work is split.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/banned_words.h"
#include "engine/candidates.h"
#include "engine/generator.h"
#include "engine/token_constraint.h"
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

  // Draws and records the next token, and has the constraint accept it. `logits` [vocab] is
  // overwritten.
  // Errors: kCorrupt         a logit is not finite (names the id and the position), or the
  //                          constraint is broken: an empty mask, or an id of it is refused
  //         kTooLarge        the constraint gave up (TokenConstraint::overrun)
  //         kInvalidArgument what the request forbids leaves no id to choose from (the message
  //                          names the fields), or penalties overflow a logit
  [[nodiscard]] Result<GeneratedToken> next(std::span<float> logits, SamplerScratch& scratch);

  // next() in parts, for a caller that has the constraint's work done elsewhere: choose() draws,
  // prepare_mask() does what comes between two draws, accept_drawn() what comes after the last one.
  // These two are the constraint's work: they may run on another thread while nothing else of the
  // sampler does, and have nothing to do without a constraint or when it is done.
  // As next(), but the constraint does not know of the id yet: whether it refuses it is an error of
  // the next choose(), or of accepted(). Does the work of prepare_mask() if nobody did.
  [[nodiscard]] Result<GeneratedToken> choose(std::span<float> logits, SamplerScratch& scratch);
  // Has the constraint accept the id drawn last; computes the mask of the next.
  void prepare_mask();
  void accept_drawn();
  // Returns the error of an id that accept_drawn() found refused.
  [[nodiscard]] Status accepted();

  [[nodiscard]] bool constrained() const { return make_constraint_ != nullptr; }
  // Whether an error was one of the constraint.
  [[nodiscard]] bool constraint_broken() const { return constraint_broken_; }

  // Returns whether `id` ends the answer.
  [[nodiscard]] bool is_stop(TokenId id) const;
  [[nodiscard]] std::size_t generated() const { return generated_; }

 private:
  // Checks the prepared mask for `vocab_size` ids.
  Status check_mask(std::size_t vocab_size);
  void shape(std::span<float> logits) const;  // steps 3 to 6
  [[nodiscard]] bool only_stops_allowed(std::size_t vocab_size) const;
  // Makes allowed_ for a vocabulary of this size, if there is a list.
  void prepare_allowed(std::size_t vocab_size);
  // `largest` is an id of the largest shaped logit, which is infinite.
  [[nodiscard]] Error no_choice(float logit, TokenId largest) const;
  [[nodiscard]] Error broken(const std::string& why, std::size_t position);
  // Steps 8 to 10.
  TokenId draw(std::span<float> logits, TokenId largest, SamplerScratch& scratch) const;

  SamplingParams params_;
  std::vector<TokenId> stop_ids_;
  std::size_t min_tokens_;
  std::size_t prompt_tokens_;
  std::size_t generated_ = 0;
  TokenHistory history_;
  BannedWords bad_words_;
  std::vector<std::uint32_t> allowed_;           // mask of allowed_token_ids; empty: all
  ConstraintFactory make_constraint_;            // empty: none
  std::unique_ptr<TokenConstraint> constraint_;  // made by the first prepare_mask()
  TokenId drawn_ = 0;                            // the last one
  bool to_accept_ = false;                       // constraint_ does not know of it yet
  bool refused_ = false;                         // constraint_ did not accept it
  bool mask_ready_ = false;
  std::span<const std::uint32_t> mask_;  // of the next token, if ready
  bool constraint_broken_ = false;
};

}  // namespace daybreak::engine
