// SPDX-License-Identifier: Apache-2.0
#pragma once

// Job: one accepted request on its way through the engine: waiting, reading its prompt, generating,
// finished. Private to the engine.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/result.h"
#include "engine/generator.h"
#include "engine/sampler.h"
#include "engine/step_model.h"

namespace daybreak::engine {

// Used by the engine's thread only, except `cancelled`.
class Job {
 public:
  Job(RequestId id, GenerateRequest request, UpdateFn on_update, Clock::TimePoint submitted);

  [[nodiscard]] RequestId id() const { return id_; }
  [[nodiscard]] const GenerateRequest& request() const { return request_; }
  [[nodiscard]] Clock::TimePoint submitted() const { return submitted_; }

  // Positions the job may need: prompt and answer.
  [[nodiscard]] std::size_t positions() const {
    return request_.prompt.size() + request_.max_tokens;
  }

  void start(std::unique_ptr<Sequence> sequence) { sequence_ = std::move(sequence); }
  [[nodiscard]] Sequence& sequence() { return *sequence_; }

  // Returns the ids to feed before the next token can be drawn: the rest of the prompt, then the
  // token drawn last. Never empty while the job runs.
  [[nodiscard]] std::span<const TokenId> pending() const;
  [[nodiscard]] bool reading() const { return read_ < request_.prompt.size(); }

  // Records that the first `count` pending ids were processed.
  void consume(std::size_t count);

  struct Drawn {
    GeneratedToken token;
    std::optional<FinishReason> finish;  // kStop or kLength when it was the last one
  };
  // Draws the next token from `logits` (overwritten) and appends it to the answer.
  // Errors: as Sampler::next.
  Result<Drawn> draw(std::span<float> logits, SamplerScratch& scratch);
  // As in Sampler. Jobs share nothing here: several threads may prepare one job each.
  void prepare_mask() { sampler_.prepare_mask(); }
  [[nodiscard]] bool constraint_broken() const { return sampler_.constraint_broken(); }

  // Gives the sequence's memory back.
  void release() { sequence_.reset(); }
  [[nodiscard]] bool holds_slot() const { return sequence_ != nullptr; }

  // Tells the caller. `error` iff finish == kError.
  void report(std::span<const GeneratedToken> tokens, std::optional<FinishReason> finish,
              const Error* error = nullptr) const;

  [[nodiscard]] std::size_t generated() const { return usage_.completion_tokens; }

  std::atomic<bool> cancelled{false};  // set by any thread
  bool finished = false;
  std::optional<Clock::TimePoint> last_token_at;

 private:
  const RequestId id_;
  const GenerateRequest request_;
  const UpdateFn on_update_;
  const Clock::TimePoint submitted_;
  Sampler sampler_;
  std::unique_ptr<Sequence> sequence_;  // null while waiting
  std::size_t read_ = 0;                // prompt ids processed
  TokenId last_ = 0;                    // the token drawn last; valid once the prompt is read
  Usage usage_;
};

}  // namespace daybreak::engine
