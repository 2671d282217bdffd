// SPDX-License-Identifier: Apache-2.0
#pragma once

// Session: one sequence that is kept between answers. If the next prompt continues what the model
// has already processed, only the new ids are computed; otherwise the state starts afresh. Gives
// the same tokens as Engine for the same request.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/generator.h"
#include "engine/sampler.h"
#include "engine/step_model.h"

namespace daybreak::engine {

// What generate() tells while it runs; every member may be empty.
struct SessionCallbacks {
  // Each new token. Returns false to end the answer (kCancelled).
  std::function<bool(const GeneratedToken&)> on_token;
  // Prompt ids processed so far and in all. Returns false to end (kCancelled).
  std::function<bool(std::size_t done, std::size_t total)> on_prompt;
  // The raw logits [vocab] after the last prompt id, before sampling changes them.
  std::function<void(std::span<const float>)> on_prompt_logits;
};

struct SessionAnswer {
  FinishReason finish = FinishReason::kStop;  // never kError: that is an Error
  Usage usage;
};

// Ids that one model step takes at most, between two calls of on_prompt.
inline constexpr std::size_t kSessionStepTokens = 256;

// Not thread-safe.
class Session {
 public:
  // `model` must outlive the session.
  explicit Session(StepModel& model) : model_(&model) {}

  // Answers one request. Errors: kUnsupported for prompt_logprobs, whose rows a kept state no
  // longer has; those of check_admissible, StepModel::acquire and forward, and Sampler::next. After
  // an error other than kInvalidArgument and kUnsupported the state is empty.
  Result<SessionAnswer> generate(const GenerateRequest& request, const SessionCallbacks& callbacks);

  // The ids the state has processed.
  [[nodiscard]] std::span<const TokenId> processed() const { return processed_; }

  // Forgets everything.
  void reset();

  // Returns the state of the sequence; empty if nothing was processed.
  [[nodiscard]] std::vector<std::byte> save() const;

  // Takes over a state that save() returned, and the ids that were processed() then.
  // Errors: as Sequence::restore; kCorrupt if the state does not have as many positions as ids. The
  // session is empty then.
  Status restore(std::span<const std::byte> state, std::vector<TokenId> processed);

 private:
  // Makes the state one that has processed a proper prefix of the prompt, the longest it can be.
  Status continue_or_restart(const GenerateRequest& request);
  Result<FinishReason> read_prompt(std::span<const TokenId> ids, const SessionCallbacks& callbacks);
  Status feed(std::span<const TokenId> ids, std::span<float> logits);

  StepModel* model_;
  std::unique_ptr<Sequence> sequence_;  // null iff processed_ is empty
  std::vector<TokenId> processed_;
  std::vector<float> logits_;
  SamplerScratch scratch_;
};

}  // namespace daybreak::engine
