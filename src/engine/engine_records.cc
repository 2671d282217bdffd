// SPDX-License-Identifier: Apache-2.0
// What the engine counts, and the end of a job.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "engine/engine.h"
#include "model/lora_adapter.h"

namespace daybreak::engine {
namespace {

// Its name, into ascending order, once.
void add_adapter(const Job& job, std::vector<std::string>& names) {
  const model::LoraAdapter* const adapter = job.request().adapter.get();
  if (adapter == nullptr) {
    return;
  }
  const std::string& name = adapter->name();
  const auto at = std::ranges::lower_bound(names, name);
  if (at == names.end() || *at != name) {
    names.insert(at, name);
  }
}

}  // namespace

Stats Engine::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.queued = waiting_.size();
  stats.draining = draining_;
  if (disk_ != nullptr) {
    stats.disk = disk_->stats();
  }
  std::unordered_set<const Job*> waiting;
  for (const std::unique_ptr<Job>& job : waiting_.jobs()) {
    waiting.insert(job.get());
    add_adapter(*job, stats.queued_adapters);
  }
  for (const auto& [id, job] : live_) {
    if (!waiting.contains(job)) {
      add_adapter(*job, stats.running_adapters);
    }
  }
  return stats;
}

void Engine::record_memory() {
  const std::size_t kept = slots_.kept();
  const std::size_t positions = slots_.kept_positions();
  const std::size_t cached = slots_.cached_positions();
  const cache::PrefixTree::Stats& cache = slots_.cache_stats();
  const std::lock_guard lock(mutex_);
  stats_.kept_sequences = kept;
  stats_.kept_positions = positions;
  stats_.cached_blocks = cache.blocks;
  stats_.checkpoints = cache.checkpoints;
  stats_.evicted_blocks = cache.evicted_blocks;
  stats_.evicted_checkpoints = cache.evicted_checkpoints;
  stats_.block_times = cache.times;
  stats_.positions_reserved =
      stats_.positions_total - model_->free_positions() - positions - cached;
}

void Engine::record_mask(Job& job) {
  if (job.constrained()) {
    const std::lock_guard lock(mutex_);
    stats_.mask_time.observe(job.mask_task.seconds());
  }
}

void Engine::settle(Job& job) {
  const GuessOutcome outcome = job.settle();
  if (outcome.guessed == 0) {
    return;
  }
  slots_.advanced(job);
  const std::lock_guard lock(mutex_);
  stats_.decode_tokens += outcome.accepted;
  ++stats_.drafts;
  stats_.draft_tokens += outcome.guessed;
  stats_.accepted_tokens += outcome.accepted;
  for (std::size_t at = 0; at < outcome.accepted; ++at) {
    ++stats_.accepted_at[at];
  }
}

void Engine::record_start(Job& job, const SlotTable::Place* place) {
  const Clock::TimePoint now = options_.clock->now();
  stats_.queue_time.observe(seconds_between(job.times.submitted, now));
  if (place == nullptr) {
    return;
  }
  job.times.started = now;
  if (slots_.may_reuse(job.request())) {
    stats_.prefix_queries += job.request().prompt.size();
    stats_.prefix_hits += place->cached_tokens;
  }
}

void Engine::record_token(Job& job) {
  const Clock::TimePoint now = options_.clock->now();
  const std::lock_guard lock(mutex_);
  ++stats_.generated_tokens;
  if (job.last_token_at.has_value()) {
    stats_.time_per_output_token.observe(seconds_between(*job.last_token_at, now));
  } else {
    job.times.first_token = now;
    stats_.time_to_first_token.observe(seconds_between(job.times.submitted, now));
  }
  job.last_token_at = now;
}

void Engine::retire(Job& job, FinishReason reason) {
  const bool had_slot = job.holds_slot();
  if (had_slot) {
    settle(job);
    ProcessedSequence left = job.leave();
    if (reason == FinishReason::kError) {
      left = {};  // what failed is not trusted
      slots_.distrust(job);
    }
    slots_.give_back(job.slot(), std::move(left));
    record_memory();
  }
  job.finished = true;
  const Clock::TimePoint now = options_.clock->now();
  job.times.finished = now;
  const std::lock_guard lock(mutex_);
  ++ended(stats_, reason);
  stats_.request_time.observe(seconds_between(job.times.submitted, now));
  if (reason == FinishReason::kStop || reason == FinishReason::kLength) {
    stats_.observe_answered({.times = job.times,
                             .prompt_tokens = job.request().prompt.size(),
                             .cached_tokens = job.cached(),
                             .generated_tokens = job.generated()});
  }
  stats_.running -= had_slot ? 1 : 0;
  live_.erase(static_cast<std::uint64_t>(job.id()));
  if (live_.empty()) {
    idle_.notify_all();
  }
}

void Engine::deliver(Job& job, const Job::Drawn& drawn) {
  record_token(job);
  if (drawn.finish.has_value()) {
    retire(job, *drawn.finish);
  }
  job.report({&drawn.token, 1}, drawn.finish);
}

void Engine::finish(Job& job, FinishReason reason, const Error* error) {
  retire(job, reason);
  job.report({}, reason, error);
}

}  // namespace daybreak::engine
