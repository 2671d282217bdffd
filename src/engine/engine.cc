// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"
#include "cache/scope.h"
#include "engine/admission.h"
#include "engine/prompt_logprobs.h"

namespace daybreak::engine {
namespace {

Status check_option(const char* name, std::size_t value, std::size_t max) {
  if (value >= 1 && value <= max) {
    return ok();
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("{}: expected 1 to {}, found {}", name, max, value)};
}

Error queue_full(std::size_t max_queue) {
  return {
      Errc::kResourceLimit,
      fmt::format("the server is busy: {} requests wait already, as many as may; try again later",
                  max_queue)};
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(std::unique_ptr<StepModel> model,
                                              const EngineOptions& options) {
  DAYBREAK_CHECK_OK(check_option("max_queue", options.max_queue, kMaxQueue));
  DAYBREAK_CHECK_OK(check_option("step_tokens", options.step_tokens, kMaxStepTokens));
  DAYBREAK_CHECK_OK(check_option("prompt_rows", options.prompt_rows, kMaxPromptRows));
  if (options.answer_reserve == 0) {
    return Error{Errc::kInvalidArgument, "answer_reserve: expected 1 or more, found 0"};
  }
  if (options.timeline_steps > kMaxTimelineSteps) {
    return Error{Errc::kInvalidArgument, fmt::format("timeline_steps: expected 0 to {}, found {}",
                                                     kMaxTimelineSteps, options.timeline_steps)};
  }
  if (options.speculation.method != SpeculationMethod::kNone) {
    if (model->max_guesses() == 0) {
      return Error{Errc::kInvalidArgument, "speculation: the model takes no guesses"};
    }
    DAYBREAK_CHECK_OK(
        check_option("speculation.most", options.speculation.most, model->max_guesses()));
    DAYBREAK_CHECK_OK(
        check_option("speculation.min_match", options.speculation.min_match, kMaxLookupIds));
  }
  if (model->slots() == 0) {
    return Error{Errc::kInvalidArgument, "max_sequences: expected 1 or more, found 0"};
  }
  DAYBREAK_TRY(cache::BlockHasher hasher, cache::BlockHasher::random());
  std::unique_ptr<cache::DiskStore> disk;
  if (options.disk) {
    DAYBREAK_TRY(disk, open_disk(*model, *options.disk, *options.clock));
    hasher = disk->hasher();
    if (options.owner_valid) {  // of keys that were revoked meanwhile
      disk->erase_if([&](std::string_view scope) {
        return !options.owner_valid(std::string(cache::split_scope(scope).isolation));
      });
    }
  }
  return std::unique_ptr<Engine>(new Engine(std::move(model), options, hasher, std::move(disk)));
}

Engine::Engine(std::unique_ptr<StepModel> model, const EngineOptions& options,
               const cache::BlockHasher& hasher, std::unique_ptr<cache::DiskStore> disk)
    : model_(std::move(model)),
      disk_(std::move(disk)),
      options_(options),
      vocab_size_(model_->vocab_size()),
      context_tokens_(model_->context_tokens()),
      slot_rows_(options.speculation.method == SpeculationMethod::kNone
                     ? 1
                     : 1 + options.speculation.most),
      logits_(model_->slots() * slot_rows_ * vocab_size_),
      slots_(*model_, {.reuse = options.prefix_reuse,
                       .max_age = options.kept_age,
                       .owner_valid = options.owner_valid,
                       .clock = options.clock,
                       .checkpoint_interval = options.checkpoint_interval,
                       .hasher = hasher,
                       .events = options.cache_events.get(),
                       .disk = disk_.get(),
                       .disk_min_tokens = options.disk ? options.disk->min_tokens : 0}),
      timeline_(options.timeline_steps, *options.clock) {
  stats_.slots = model_->slots();
  stats_.draft_tokens_at_most = slot_rows_ - 1;
  stats_.positions_total = model_->total_positions();
  stats_.block_positions = model_->block_positions();
  mask_workers_ = std::make_unique<MaskWorkers>(*options_.clock, [this] { happen(); });
  if (disk_ != nullptr) {
    disk_->start([this] { happen(); });
  }
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
    return Error{Errc::kUnavailable, "the server is shutting down, no new requests"};
  }
  const bool full = waiting_.size() >= options_.max_queue;
  Job* const victim =
      full && request.may_displace ? waiting_.find_displaceable(now, request.priority) : nullptr;
  if (full && victim == nullptr) {
    ++stats_.rejected;
    return queue_full(options_.max_queue);
  }
  const std::uint64_t id = next_id_++;
  Status queued = or_out_of_memory(Errc::kResourceLimit, "a waiting request", [&] {
    auto job = std::make_unique<Job>(RequestId{id}, std::move(request), std::move(on_update), now);
    live_.emplace(id, job.get());
    waiting_.add(std::move(job));
    return ok();
  });
  if (!queued) {
    live_.erase(id);
    ++stats_.rejected;
    return std::move(queued).error();
  }
  if (victim != nullptr) {
    waiting_.displace(*victim);  // last: nobody loses a place for one that failed
  }
  ++stats_.submitted;
  happened_ = true;
  wake_.notify_one();
  return RequestId{id};
}

void Engine::end_early(RequestId id, FinishReason reason) {
  const std::lock_guard lock(mutex_);
  if (const auto found = live_.find(static_cast<std::uint64_t>(id)); found != live_.end()) {
    // The first word holds: who has all of an answer may well cancel what is left of it.
    if (!found->second->cancelled) {
      found->second->complete = reason == FinishReason::kStop;
      found->second->cancelled = true;
    }
    happened_ = true;
    wake_.notify_one();
  }
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
    happened_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  return cut;
}

Status Engine::between_steps(Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) {
    return Error{Errc::kUnavailable, "the server is shutting down"};
  }
  if (tasks_.size() >= kMaxSlotTasks) {
    return Error{
        Errc::kResourceLimit,
        fmt::format("the server is busy: {} actions on slots wait already, try again later",
                    kMaxSlotTasks)};
  }
  tasks_.push_back(std::move(task));
  happened_ = true;
  wake_.notify_one();
  return ok();
}

void Engine::happen() {
  {
    const std::lock_guard lock(mutex_);
    happened_ = true;
  }
  wake_.notify_one();
}

void Engine::flush_cache_events() {
  if (options_.cache_events != nullptr) {
    options_.cache_events->flush();
  }
}

void Engine::run() {
  bool busy = false;
  if (options_.cache_events != nullptr) {
    options_.cache_events->cleared();  // for whoever knew an earlier process at this place
    options_.cache_events->flush();
  }
  while (next_round(busy)) {
    run_tasks();
    if (slots_.erase_old()) {
      record_memory();
    }
    drop_given_up();
    collect_loads();
    admit();
    busy = draw_all_due();
    busy = step() || busy;
    flush_cache_events();
  }
  run_tasks();
  if (disk_ != nullptr) {
    disk_->stop(kDiskPatience);
  }
  slots_.end();
  flush_cache_events();
  record_memory();
  mask_workers_.reset();  // before the jobs whose constraints they have
  finished_.clear();
}

bool Engine::next_round(bool busy) {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return stopping_ && live_.empty(); };
  const auto awake = [&] { return happened_ || over(); };
  if (const auto end = slots_.next_end(); !busy && end) {
    wake_.wait_for(lock, *end - options_.clock->now(), awake);
  } else if (!busy) {
    wake_.wait(lock, awake);
  }
  happened_ = false;
  return !over();
}

void Engine::run_tasks() {
  std::deque<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const Task& task : tasks) {
    task(slots_);
  }
  if (!tasks.empty()) {
    record_memory();
  }
}

void Engine::drop_given_up() {
  std::vector<std::unique_ptr<Job>> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped = waiting_.remove_dropped();
    stats_.displaced += static_cast<std::uint64_t>(
        std::ranges::count_if(dropped, [](const auto& job) { return job->displaced; }));
  }
  const Error full = queue_full(options_.max_queue);
  const auto end_of = [](const Job& job) {
    return job.complete ? FinishReason::kStop : FinishReason::kCancelled;
  };
  for (std::unique_ptr<Job>& job : dropped) {
    if (job->displaced) {
      job->times.displaced = options_.clock->now();
      finish(*job, FinishReason::kError, &full);
    } else {
      finish(*job, job->preempted() ? end_of(*job) : FinishReason::kCancelled, nullptr);
    }
    discard(std::move(job));
  }
  for (const std::unique_ptr<Job>& job : running_) {
    if (job->cancelled) {
      finish(*job, end_of(*job), nullptr);
    }
  }
  remove_finished();
}

void Engine::discard(std::unique_ptr<Job> job) {
  if (!mask_workers_->withdraw(job->mask_task)) {
    finished_.push_back(std::move(job));
  }
}

void Engine::remove_finished() {
  std::erase_if(finished_, [&](const std::unique_ptr<Job>& job) {
    if (job->mask_task.busy()) {
      return false;
    }
    record_mask(*job);
    return true;
  });
  for (std::unique_ptr<Job>& job : running_) {
    if (job->finished) {
      discard(std::move(job));
    }
  }
  std::erase(running_, nullptr);
}

void Engine::collect_loads() {
  if (disk_ == nullptr) {
    return;
  }
  std::vector<Job*> aside;
  {
    const std::lock_guard lock(mutex_);
    aside = waiting_.aside();
  }
  for (const double seconds : slots_.collect_loads(aside)) {
    const std::lock_guard lock(mutex_);
    stats_.disk_load_time.observe(seconds);
  }
}

void Engine::admit() {
  while (running_.size() < model_->slots()) {
    Job* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      next = waiting_.front();  // only this thread removes
    }
    if (next == nullptr || (!slots_.fetch(*next) && !admit_one(*next))) {
      return;
    }
  }
}

bool Engine::admit_one(Job& next) {
  const std::uint64_t holds = slots_.holds();
  Result<SlotTable::Place> place = place_for(next);
  if (!place && place.error().code == Errc::kResourceLimit &&
      (!running_.empty() || slots_.in_motion(holds))) {
    return false;  // whoever runs will give its memory back, and so will the disk
  }
  std::unique_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    job = waiting_.remove(next);
    stats_.running += place ? 1 : 0;
    if (!job->preempted()) {
      record_start(*job, place ? &*place : nullptr);
    }
  }
  if (!place) {
    finish(*job, FinishReason::kError, &place.error());
    discard(std::move(job));
    return true;
  }
  job->start(
      place->slot, std::move(place->sequence), place->cached_tokens,
      std::span(logits_).subspan(place->slot * slot_rows_ * vocab_size_, slot_rows_ * vocab_size_),
      vocab_size_);
  record_memory();
  if (!job->preempted()) {  // else it was asked for when the last token was drawn
    submit_mask(*job);
  }
  running_.push_back(std::move(job));
  return true;
}

Result<SlotTable::Place> Engine::place_for(Job& job) {
  if (!slots_.owner_valid(job.scope())) {
    return Error{Errc::kUnauthenticated,
                 "the API key was revoked or has expired while the request waited"};
  }
  if (job.request().prompt_logprobs && prompt_rows_.empty()) {
    DAYBREAK_CHECK_OK(or_out_of_memory(Errc::kResourceLimit, "prompt_logprobs", [&] {
      prompt_rows_.resize(options_.prompt_rows * vocab_size_);
      return ok();
    }));
  }
  return slots_.take(job, job.positions_ahead(options_.answer_reserve));
}

}  // namespace daybreak::engine
