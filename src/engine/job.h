// SPDX-License-Identifier: Apache-2.0
#pragma once

// Job: one accepted request on its way through the engine: waiting, reading its prompt, generating,
// finished. Private to the engine.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/generator.h"
#include "engine/guesses.h"
#include "engine/mask_workers.h"
#include "engine/prefix_cache.h"
#include "engine/processed_sequence.h"
#include "engine/sampler.h"
#include "engine/slots.h"
#include "engine/step_model.h"

namespace daybreak::engine {

// Used by the engine's thread only, except `cancelled` and `complete`. While mask_task is busy
// another thread has the job's constraint; only draw() and take_last() touch it too.
class Job {
 public:
  Job(RequestId id, GenerateRequest request, UpdateFn on_update, Clock::TimePoint submitted);

  [[nodiscard]] RequestId id() const { return id_; }
  [[nodiscard]] const GenerateRequest& request() const { return request_; }
  [[nodiscard]] const std::string& scope() const { return scope_; }  // see cache/scope.h

  // Positions the job may need: prompt and answer.
  [[nodiscard]] std::size_t positions() const {
    return request_.prompt.size() + request_.max_tokens;
  }
  // Positions to set aside for what it has and the next `ahead` of its answer. For
  // log-probabilities of a prompt all it may need: it cannot be preempted, its rows are told once.
  [[nodiscard]] std::size_t positions_ahead(std::size_t ahead) const;

  // The ids that are read before the next token is drawn: the prompt; after preempt() also the
  // answer so far. Never changes but there.
  [[nodiscard]] std::span<const TokenId> text() const {
    return preempted() ? again_ : request_.prompt;
  }
  [[nodiscard]] bool preempted() const { return !again_.empty(); }

  // `sequence` has processed the first `cached` ids of text(), not all of them. `logits`
  // [1 or more, vocab] is where the job's rows go, until it is finished or preempted.
  void start(std::size_t slot, std::unique_ptr<Sequence> sequence, std::size_t cached,
             std::span<float> logits, std::size_t vocab_size) {
    slot_ = slot;
    vocab_size_ = vocab_size;
    sequence_ = std::move(sequence);
    read_ = cached;
    if (!preempted()) {
      usage_.cached_tokens = cached;
    }
    logits_ = logits;
  }
  [[nodiscard]] std::size_t slot() const { return slot_; }
  // Ids processed.
  [[nodiscard]] std::size_t position() const { return read_ + fed_.size(); }
  // Returns `count` of the processed ids, from the one at `first` on.
  [[nodiscard]] std::vector<TokenId> processed(std::size_t first, std::size_t count) const;
  [[nodiscard]] Sequence& sequence() { return *sequence_; }

  // Returns the ids to feed before the next token can be drawn: the rest of the prompt, then the
  // token drawn last and guesses of those to come. Never empty while the job runs. Of no use while
  // the job is due.
  [[nodiscard]] std::span<const TokenId> pending() const;
  [[nodiscard]] bool reading() const { return read_ < text().size(); }

  // Whether the rows that follow the pending ids are wanted, each, for the log-probabilities of the
  // prompt. Not when only the last id of the prompt is left: no other follows it.
  [[nodiscard]] bool rates_pending() const {
    return request_.prompt_logprobs.has_value() && read_ + 1 < request_.prompt.size();
  }
  // Reports the log-probabilities of the ids after the first pending ones, from their rows
  // [count, vocab], and keeps the last row if it is the one to draw from. To be called before
  // consume(count). Errors: as rate_prompt_id. REQUIRES: rates_pending().
  Status rate(std::span<const float> rows);

  // Guesses up to `most` of the ids to come, in place of what was guessed before: they are pending
  // too. It has then read the prompt and is not due.
  void guess(const SpeculationOptions& options, std::size_t most);
  void guess_nothing() { next_.resize(1); }
  // Of the first `count` pending ids, how many are guesses.
  [[nodiscard]] std::size_t guesses(std::size_t count) const { return reading() ? 0 : count - 1; }

  // Where the rows go that follow the pending ids: of the prompt the last, of the answer each.
  [[nodiscard]] std::span<float> logits(std::size_t count) const {
    return logits_.first((reading() ? 1 : count) * vocab_size_);
  }

  // Of the prompt, not computed again.
  [[nodiscard]] std::size_t cached() const { return usage_.cached_tokens; }
  // Tokens drawn so far.
  [[nodiscard]] std::size_t generated() const { return sampler_.generated(); }

  // Records that the first `count` pending ids were processed, and the guesses among them computed.
  void consume(std::size_t count);

  // Whether a row of logits is there to draw from, or even the last token is, and what comes next
  // is draw() or take_last(), not another step.
  [[nodiscard]] bool due() const { return row_ < rows_ || last_drawn_.has_value(); }

  struct Drawn {
    GeneratedToken token;
    std::optional<FinishReason> finish;  // kStop or kLength when it was the last one
  };
  // Draws the next token from the job's next row. If it is the one that was guessed, the row after
  // it is the next.
  // Errors: as Sampler::choose. REQUIRES: due() and mask_task is not busy, both here and below.
  Result<Drawn> draw(SamplerScratch& scratch);
  [[nodiscard]] bool constrained() const { return sampler_.constrained(); }
  [[nodiscard]] bool constraint_broken() const { return sampler_.constraint_broken(); }

  // The last token of a constrained answer is kept until the constraint has accepted it.
  void keep_last(Drawn drawn) { last_drawn_ = std::move(drawn); }
  [[nodiscard]] bool last_kept() const { return last_drawn_.has_value(); }
  // Errors: as Sampler::accepted.
  Result<Drawn> take_last();
  // Once no row is left to draw from, or early at the end of the job: has the sequence count what
  // was guessed right. Returns how many guesses there were since the last time, and how many right.
  GuessOutcome settle();
  [[nodiscard]] bool rows_left() const { return row_ < rows_; }

  // Parts with the sequence. REQUIRES: holds_slot().
  [[nodiscard]] ProcessedSequence leave();
  // The same of a job that is to start again, later, and to go on where it was; its trail and what
  // it has reserved are the caller's affair. May throw std::bad_alloc; then nothing has changed.
  // REQUIRES: may_be_preempted().
  [[nodiscard]] ProcessedSequence preempt();
  // Not while a row is there to draw from: it is in the slot's memory.
  [[nodiscard]] bool may_be_preempted() const {
    return !finished && !due() && !request_.prompt_logprobs.has_value();
  }
  [[nodiscard]] bool holds_slot() const { return sequence_ != nullptr; }
  // What the slot does. REQUIRES: holds_slot().
  [[nodiscard]] SlotInfo slot_info() const;

  // Tells the caller, and counts the tokens. `error` iff finish == kError.
  void report(std::span<const GeneratedToken> tokens, std::optional<FinishReason> finish,
              const Error* error = nullptr);

  std::atomic<bool> cancelled{false};  // set by any thread: it is to end early
  std::atomic<bool> complete{false};   // likewise, before it: because all of the answer is there
  bool displaced = false;              // from the queue; of the queue's lock, until it is out of it
  bool finished = false;
  RequestTimes times;
  std::optional<Clock::TimePoint> last_token_at;
  PrefixTrail trail;         // its part in the prefix cache
  std::size_t reserved = 0;  // positions set aside, while it has a sequence
  bool aside = false;        // it waits for a load, and others go on; see SlotTable::fetch()
  bool fetched = false;      // it does not look at the disk any more
  std::optional<cache::BlockHash> awaited;  // the end of what it waits for; none: any load
  // As the slot table was, see SlotTable::take(), when it had no place for the job.
  std::optional<std::uint64_t> refused_at;

  // The constraint's work between two tokens. `may_wait`: the engine has not yet waited for this
  // run, and is willing to.
  MaskTask mask_task;
  bool may_wait = false;

 private:
  const RequestId id_;
  const GenerateRequest request_;
  const UpdateFn on_update_;
  const std::string scope_;
  Sampler sampler_;
  std::size_t slot_ = 0;
  std::unique_ptr<Sequence> sequence_;  // null while waiting
  std::span<float> logits_;
  std::size_t vocab_size_ = 0;
  std::size_t rows_ = 0;  // that the last step gave
  std::size_t row_ = 0;   // of them, to draw from next
  std::optional<Drawn> last_drawn_;
  std::vector<TokenId> again_;  // see text(); empty: never preempted
  std::size_t read_ = 0;        // ids of text() processed
  std::vector<TokenId> fed_;    // ids of the answer processed, but for those in text()
  TokenId last_ = 0;            // the token drawn last
  // The same when the step was planned, once the prompt is read, and the guesses behind it; the
  // first right_ of these were drawn since.
  std::vector<TokenId> next_ = {0};
  std::size_t right_ = 0;
  std::optional<Guesses> guesses_;  // where they come from, once wanted
  Usage usage_;
};

}  // namespace daybreak::engine
