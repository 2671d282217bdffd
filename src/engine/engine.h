// SPDX-License-Identifier: Apache-2.0
#pragma once

// Engine: continuous batching over one model. One thread owns the model: at each step it lets go of
// cancelled requests, admits those waiting in the order of waiting_queue.h (but those that wait for
// the disk) while slots and positions last, and runs one batch in which every generating request
// advances by one token and the prompts share what is left of the step's budget (step_planner.h).
//
// What constraints have to compute is done by other threads (mask_workers.h), from the moment a
// token is drawn on, beside the next step. A request whose mask is not there when its logits are is
// waited for once and shortly; then it keeps its row and sits out the steps of the others until the
// mask comes. Its answer is the same, bit for bit.
//
// With speculation on, a generating request feeds guesses of its next tokens too, and draws from
// the rows of those that turn out right (docs/speculation.md). Its answer is the same, bit for bit.
//
// When a request ends its sequence is kept for a while, and a request whose prompt goes on from it
// computes the rest only (slot_table.h). Its answer is the same, bit for bit.
//
// A request is admitted when there is memory for its prompt and the next answer_reserve tokens;
// more is set aside as its answer grows. When there is none left, what is cached goes, and then
// those that would start last are preempted: they wait again, and what they had is computed again
// unless the cache or their slot still has it. Whoever comes first in the order of the queue is
// never preempted, so that everybody's turn comes. The answers are the same, bit for bit.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "engine/disk_tier.h"
#include "engine/generator.h"
#include "engine/job.h"
#include "engine/mask_workers.h"
#include "engine/slot_table.h"
#include "engine/slots.h"
#include "engine/step_model.h"
#include "engine/step_timeline.h"
#include "engine/waiting_queue.h"

namespace daybreak::engine {

inline constexpr std::size_t kMaxStepTokens = 65'536;
inline constexpr std::size_t kMaxQueue = 65'536;
inline constexpr std::size_t kMaxPromptRows = 4096;

// What a step waits for masks, in all: enough for masks as they usually are, which are there
// already, and little beside a step.
inline constexpr std::chrono::microseconds kMaskGrace{2000};

struct EngineOptions {
  // Waiting requests; one more is refused or, if others yield, takes the place of one. 1 to
  // kMaxQueue.
  std::size_t max_queue = 256;
  std::size_t step_tokens = 512;  // ids of one step, all requests. 1 to kMaxStepTokens
  // Tokens of an answer whose memory is set aside ahead. 1 or more; as many as max_tokens of all
  // requests: nobody is preempted.
  std::size_t answer_reserve = 256;
  // Rows of logits that one step computes for prompt log-probabilities, all requests: bounds their
  // memory and what they delay the others. 1 to kMaxPromptRows.
  std::size_t prompt_rows = 16;
  std::chrono::microseconds mask_grace = kMaskGrace;  // 0: none
  PrefixReuse prefix_reuse = PrefixReuse::kOn;
  std::chrono::seconds kept_age = kKeptAge;               // see KeepOptions, as of the next one
  std::size_t checkpoint_interval = kCheckpointInterval;  // see PrefixCacheOptions
  SpeculationOptions speculation = {};
  // Told on the engine's thread what enters and leaves the prefix cache, a batch for each step;
  // cleared() first and last. Null: nobody.
  std::shared_ptr<cache::EventSink> cache_events = nullptr;
  std::optional<DiskOptions> disk =
      std::nullopt;  // the prefix cache's second tier; see disk_tier.h
  OwnerValidFn owner_valid = nullptr;
  std::size_t timeline_steps = 0;         // kept for steps(). 0 to kMaxTimelineSteps
  const Clock* clock = &Clock::steady();  // outlives the engine
};

class Engine final : public Generator, public SlotControl {
 public:
  // Errors: kInvalidArgument naming an option out of its range, or a model without slots; as
  // open_disk.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> start(std::unique_ptr<StepModel> model,
                                                             const EngineOptions& options);
  ~Engine() override;

  Result<RequestId> submit(GenerateRequest request, UpdateFn on_update) override;
  void cancel(RequestId id) override { end_early(id, FinishReason::kCancelled); }
  void complete(RequestId id) override { end_early(id, FinishReason::kStop); }
  Stats stats() const override;
  std::vector<StepRecord> steps() const override { return timeline_.steps(); }
  std::size_t vocab_size() const override { return vocab_size_; }
  std::size_t context_tokens() const override { return context_tokens_; }
  std::size_t queue_capacity() const override { return options_.max_queue; }
  void drain() override;
  std::size_t stop(std::chrono::milliseconds deadline) override;
  Status between_steps(Task task) override;

 private:
  Engine(std::unique_ptr<StepModel> model, const EngineOptions& options,
         const cache::BlockHasher& hasher, std::unique_ptr<cache::DiskStore> disk);

  void happen();  // wakes the engine's thread; called by any

  // All below run on the engine's thread, without the lock.
  void run();
  void flush_cache_events();
  void record_memory();  // in stats_
  // Sleeps until something happens unless `busy`. Returns whether anything is left to do, ever.
  bool next_round(bool busy);
  void run_tasks();
  void end_early(RequestId id, FinishReason reason);
  void drop_given_up();  // cancelled, or without a place in the queue
  // Destroys a finished job that is in no list, once no worker has its constraint.
  void discard(std::unique_ptr<Job> job);
  void collect_loads();
  void admit();
  // Returns false if it has to wait.
  bool admit_one(Job& next);
  // What `job` needs before it can run. Errors: as SlotTable::take, kUnauthenticated (its owner is
  // not served any more); then nothing has changed.
  Result<SlotTable::Place> place_for(Job& job);
  // These two return whether anything changed.
  bool step();          // of every request that is not due
  bool draw_all_due();  // whose mask is there
  // Sets aside what the answers of `ready` need for a step, for which others may be preempted.
  // Takes out who does not take part.
  void make_room(std::vector<Job*>& ready);
  void make_room(Job& job, std::vector<Job*>& ready);
  // Returns who is to be preempted so that `job` can go on; null: nobody behind it, now.
  [[nodiscard]] Job* victim_for(const Job& job) const;
  [[nodiscard]] Status preempt(Job& job);  // Errors: kResourceLimit; then nothing has changed.
  // Returns how many ids each of `ready` feeds. Takes those out that a step has no rows for.
  std::vector<std::size_t> plan(std::vector<Job*>& ready);
  // Has those of `ready` that are generating guess what comes. Returns how many ids that are.
  std::size_t guess(std::span<Job* const> ready);
  std::size_t guess(Job& job, std::size_t budget);
  // Returns how many pending ids each job of `ready` may feed: all, or those it has rows for.
  std::vector<std::size_t> may_feed(std::span<Job* const> ready) const;
  void record_feed(const Job& job, const StepChunk& chunk);
  // Returns what `job` feeds; takes rows for prompt log-probabilities from `rows`.
  StepChunk chunk_of(Job& job, std::size_t count, std::span<float>& rows);
  void forward(std::span<const StepChunk> chunks, std::span<Job* const> jobs);
  void consume(Job& job, const StepChunk& fed);  // after `fed` was processed
  void draw(Job& job);
  void settle(Job& job);  // see Job::settle
  void deliver(Job& job, const Job::Drawn& drawn);
  void submit_mask(Job& job);
  void wait_for_masks();
  void remove_finished();
  void record_start(Job& job, const SlotTable::Place* place);  // with the lock; null: it failed
  void record_token(Job& job);
  void record_mask(Job& job);
  // Frees what the job holds, then tells its caller. Its mask may still be in the making.
  void finish(Job& job, FinishReason reason, const Error* error);
  void retire(Job& job, FinishReason reason);

  const std::unique_ptr<StepModel> model_;
  const std::unique_ptr<cache::DiskStore> disk_;  // null: none
  const EngineOptions options_;
  const std::size_t vocab_size_;
  const std::size_t context_tokens_;

  // The engine's thread only.
  std::vector<std::unique_ptr<Job>> running_;  // oldest first, at most model_->slots()
  const std::size_t slot_rows_;  // rows of logits of each slot: of a token and of guesses
  std::vector<float> logits_;    // [slots, slot_rows_, vocab]
  SlotTable slots_;
  std::vector<float> prompt_rows_;  // [options_.prompt_rows, vocab] once wanted
  // Finished while a worker had their constraint: at most one for each worker.
  std::vector<std::unique_ptr<Job>> finished_;
  std::unique_ptr<MaskWorkers> mask_workers_;
  SamplerScratch scratch_;
  StepTimeline timeline_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;  // something happened
  bool happened_ = false;         // new work, a cancellation, a mask, the end: since the last round
  std::condition_variable idle_;  // no accepted request is left
  WaitingQueue waiting_;
  std::deque<Task> tasks_;                        // of between_steps()
  std::unordered_map<std::uint64_t, Job*> live_;  // every accepted, unfinished request
  Stats stats_;
  std::uint64_t next_id_ = 1;
  bool draining_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace daybreak::engine
