// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/admission.h"
#include "engine/step_planner.h"

namespace daybreak::engine {
namespace {

Status check_option(const char* name, std::size_t value, std::size_t max) {
  if (value >= 1 && value <= max) {
    return ok();
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("{}: expected 1 to {}, found {}", name, max, value)};
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(std::unique_ptr<StepModel> model,
                                              const EngineOptions& options) {
  DAYBREAK_CHECK_OK(check_option("max_queue", options.max_queue, kMaxQueue));
  DAYBREAK_CHECK_OK(check_option("step_tokens", options.step_tokens, kMaxStepTokens));
  if (model->slots() == 0) {
    return Error{Errc::kInvalidArgument, "max_sequences: expected 1 or more, found 0"};
  }
  return std::unique_ptr<Engine>(new Engine(std::move(model), options));
}

Engine::Engine(std::unique_ptr<StepModel> model, const EngineOptions& options)
    : model_(std::move(model)),
      options_(options),
      vocab_size_(model_->vocab_size()),
      context_tokens_(model_->context_tokens()),
      even_share_(model_->even_share()),
      logits_(model_->slots() * vocab_size_) {
  stats_.slots = model_->slots();
  stats_.positions_total = model_->total_positions();
  thread_ = std::thread([this] { run(); });
}

Engine::~Engine() { stop(std::chrono::milliseconds(0)); }

Result<RequestId> Engine::submit(GenerateRequest request, UpdateFn on_update) {
  Status admissible = check_admissible(request, {vocab_size_, context_tokens_});
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard lock(mutex_);
  if (!admissible) {
    ++stats_.rejected;
    return std::move(admissible).error();
  }
  if (draining_) {
    ++stats_.rejected;
    return Error{Errc::kUnavailable, "engine: shutting down, no new requests"};
  }
  if (waiting_.size() >= options_.max_queue) {
    ++stats_.rejected;
    return Error{Errc::kResourceLimit,
                 fmt::format("engine: expected at most {} waiting requests, try again later",
                             options_.max_queue)};
  }
  ++stats_.submitted;
  const std::uint64_t id = next_id_++;
  waiting_.push_back(
      std::make_unique<Job>(RequestId{id}, std::move(request), std::move(on_update), now));
  live_.emplace(id, waiting_.back().get());
  wake_.notify_one();
  return RequestId{id};
}

void Engine::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = live_.find(static_cast<std::uint64_t>(id)); found != live_.end()) {
    found->second->cancelled = true;
  }
}

Stats Engine::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.queued = waiting_.size();
  stats.draining = draining_;
  return stats;
}

void Engine::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

std::size_t Engine::stop(std::chrono::milliseconds deadline) {
  std::size_t cut = 0;
  {
    std::unique_lock lock(mutex_);
    draining_ = true;
    idle_.wait_for(lock, deadline, [this] { return live_.empty(); });
    cut = live_.size();
    for (const auto& [id, job] : live_) {
      job->cancelled = true;
    }
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  return cut;
}

void Engine::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !live_.empty(); });
      if (live_.empty()) {
        return;
      }
    }
    drop_cancelled();
    admit();
    if (!running_.empty()) {
      step();
    }
  }
}

void Engine::drop_cancelled() {
  std::vector<std::unique_ptr<Job>> dropped;
  {
    const std::lock_guard lock(mutex_);
    for (std::unique_ptr<Job>& job : waiting_) {
      if (job->cancelled) {
        dropped.push_back(std::move(job));
      }
    }
    std::erase(waiting_, nullptr);
  }
  for (const std::unique_ptr<Job>& job : dropped) {
    finish(*job, FinishReason::kCancelled, nullptr);
  }
  for (const std::unique_ptr<Job>& job : running_) {
    if (job->cancelled) {
      finish(*job, FinishReason::kCancelled, nullptr);
    }
  }
  std::erase_if(running_, [](const std::unique_ptr<Job>& job) { return job->finished; });
}

void Engine::admit() {
  while (running_.size() < model_->slots()) {
    Job* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        return;
      }
      next = waiting_.front().get();  // only this thread removes
    }
    Result<std::unique_ptr<Sequence>> sequence = model_->acquire(next->positions());
    if (!sequence && sequence.error().code == Errc::kResourceLimit && !running_.empty()) {
      return;  // whoever runs will give its memory back
    }
    std::unique_ptr<Job> job;
    {
      const std::lock_guard lock(mutex_);
      job = std::move(waiting_.front());
      waiting_.pop_front();
      stats_.queue_time.observe(seconds_between(job->submitted(), options_.clock->now()));
      if (sequence) {
        ++stats_.running;
        stats_.positions_reserved = stats_.positions_total - model_->free_positions();
      }
    }
    if (!sequence) {
      finish(*job, FinishReason::kError, &sequence.error());
      continue;
    }
    job->start(*std::move(sequence));
    running_.push_back(std::move(job));
  }
}

void Engine::step() {
  std::vector<std::size_t> pending;
  for (const std::unique_ptr<Job>& job : running_) {
    pending.push_back(job->pending().size());
  }
  const std::vector<std::size_t> share = plan_step(pending, options_.step_tokens);
  std::vector<StepChunk> chunks;
  std::vector<Job*> jobs;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    if (share[i] == 0) {
      continue;
    }
    StepChunk chunk{.sequence = &running_[i]->sequence(),
                    .ids = running_[i]->pending().first(share[i]),
                    .logits = {}};
    if (share[i] == pending[i]) {
      chunk.logits = std::span(logits_).subspan(i * vocab_size_, vocab_size_);
    }
    chunks.push_back(chunk);
    jobs.push_back(running_[i].get());
  }
  forward(chunks, jobs);
  std::erase_if(running_, [](const std::unique_ptr<Job>& job) { return job->finished; });
  prepare_masks();
}

// After every token of the step has been reported, so that none of them waits for a mask that only
// the next step needs; a long prompt's mask is ready before its last id is read.
void Engine::prepare_masks() {
  for (const std::unique_ptr<Job>& job : running_) {
    if (!job->cancelled) {
      job->prepare_mask();
    }
  }
}

void Engine::forward(std::span<const StepChunk> chunks, std::span<Job* const> jobs) {
  std::vector<std::size_t> before;
  for (const StepChunk& chunk : chunks) {
    before.push_back(chunk.sequence->position());
  }
  const Status all = model_->forward(chunks);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Status own = all;
    // One bad sequence must not take the others with it: each is tried alone, provided the failure
    // left it where it was.
    if (!all && chunks.size() > 1 && chunks[i].sequence->position() == before[i]) {
      own = model_->forward(chunks.subspan(i, 1));
    }
    if (own) {
      advance(*jobs[i], chunks[i]);
    } else {
      finish(*jobs[i], FinishReason::kError, &own.error());
    }
  }
  const std::lock_guard lock(mutex_);
  ++stats_.steps;
}

void Engine::advance(Job& job, const StepChunk& fed) {
  const bool reading = job.reading();
  job.consume(fed.ids.size());
  {
    const std::lock_guard lock(mutex_);
    (reading ? stats_.prefill_tokens : stats_.decode_tokens) += fed.ids.size();
  }
  if (fed.logits.empty() || job.cancelled) {
    return;  // a cancelled job is dropped before the next step
  }
  const Result<Job::Drawn> drawn = job.draw(fed.logits, scratch_);
  if (!drawn) {
    if (drawn.error().code == Errc::kCorrupt) {
      const std::lock_guard lock(mutex_);
      ++(job.constraint_broken() ? stats_.broken_constraints : stats_.nonfinite_rows);
    }
    return finish(job, FinishReason::kError, &drawn.error());
  }
  record_token(job);
  if (drawn->finish.has_value()) {
    retire(job, *drawn->finish);
  }
  job.report({&drawn->token, 1}, drawn->finish);
}

void Engine::record_token(Job& job) {
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard lock(mutex_);
  ++stats_.generated_tokens;
  if (job.last_token_at.has_value()) {
    stats_.time_per_output_token.observe(seconds_between(*job.last_token_at, now));
  } else {
    stats_.time_to_first_token.observe(seconds_between(job.submitted(), now));
  }
  job.last_token_at = now;
}

void Engine::finish(Job& job, FinishReason reason, const Error* error) {
  retire(job, reason);
  job.report({}, reason, error);
}

void Engine::retire(Job& job, FinishReason reason) {
  const bool had_slot = job.holds_slot();
  job.release();
  job.finished = true;
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard lock(mutex_);
  switch (reason) {
    case FinishReason::kStop:
      ++stats_.finished_stop;
      break;
    case FinishReason::kLength:
      ++stats_.finished_length;
      break;
    case FinishReason::kCancelled:
      ++stats_.finished_cancelled;
      break;
    case FinishReason::kError:
      ++stats_.finished_error;
      break;
  }
  stats_.request_time.observe(seconds_between(job.submitted(), now));
  if (had_slot) {
    --stats_.running;
    stats_.positions_reserved = stats_.positions_total - model_->free_positions();
  }
  live_.erase(static_cast<std::uint64_t>(job.id()));
  if (live_.empty()) {
    idle_.notify_all();
  }
}

}  // namespace daybreak::engine
