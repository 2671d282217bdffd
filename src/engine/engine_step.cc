// SPDX-License-Identifier: Apache-2.0
// A step of the model and what follows from it: rows, tokens, masks.
#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/engine.h"

namespace daybreak::engine {

bool Engine::step() {
  timeline_.begin();
  std::vector<Job*> ready;
  for (const std::unique_ptr<Job>& job : running_) {
    if (!job->due()) {
      ready.push_back(job.get());
    }
  }
  const std::size_t without_mask = running_.size() - ready.size();
  make_room(ready);
  if (ready.empty()) {
    return false;
  }
  const std::size_t running = running_.size();
  const std::vector<std::size_t> share = plan(ready);
  std::vector<StepChunk> chunks;
  std::vector<Job*> jobs;
  std::span<float> rows(prompt_rows_);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (share[i] > 0) {
      chunks.push_back(chunk_of(*ready[i], share[i], rows));
      jobs.push_back(ready[i]);
      record_feed(*ready[i], chunks.back());
    }
  }
  const std::size_t fed = std::accumulate(share.begin(), share.end(), std::size_t{0});
  timeline_.end(StepPhase::kPlan);
  forward(chunks, jobs);
  timeline_.end(StepPhase::kForward);
  {
    const std::lock_guard lock(mutex_);
    ++stats_.steps;
    stats_.mask_waits += without_mask;
    stats_.step_tokens.observe(static_cast<double>(fed));
  }
  draw_all_due();  // before anybody waits
  timeline_.end(StepPhase::kSample);
  wait_for_masks();
  timeline_.end(StepPhase::kMaskWait);
  draw_all_due();
  timeline_.end(StepPhase::kLateSample);
  timeline_.commit(running, running - jobs.size());
  return true;
}

void Engine::submit_mask(Job& job) {
  if (job.constrained()) {
    // The steps of others never wait for an answer whose masks are slow.
    job.may_wait = job.mask_task.lane() != MaskLane::kSlow;
    mask_workers_->submit(job.mask_task);
  }
}

void Engine::wait_for_masks() {
  std::vector<const Job*> awaited;
  for (const std::unique_ptr<Job>& job : running_) {
    if (job->due() && job->may_wait && job->mask_task.busy()) {
      job->may_wait = false;
      awaited.push_back(job.get());
    }
  }
  if (awaited.empty()) {
    return;
  }
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, options_.mask_grace, [&] {
    return std::ranges::none_of(awaited, [](const Job* job) { return job->mask_task.busy(); });
  });
}

bool Engine::draw_all_due() {
  bool any = false;
  for (const std::unique_ptr<Job>& job : running_) {
    while (job->due() && !job->finished && !job->cancelled && !job->mask_task.busy()) {
      draw(*job);
      any = true;
    }
  }
  remove_finished();
  return any;
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
      consume(*jobs[i], chunks[i]);
    } else {
      finish(*jobs[i], FinishReason::kError, &own.error());
    }
  }
}

void Engine::consume(Job& job, const StepChunk& fed) {
  const bool reading = job.reading();
  const Status rated = job.rates_pending() ? job.rate(fed.logits) : ok();
  job.consume(fed.ids.size());
  slots_.advanced(job);
  {
    const std::lock_guard lock(mutex_);
    (reading ? stats_.prefill_tokens : stats_.decode_tokens) += fed.ids.size() - fed.guesses;
    stats_.nonfinite_rows += rated ? 0 : 1;
  }
  if (!rated) {
    finish(job, FinishReason::kError, &rated.error());
  } else if (!job.reading() && job.request().max_tokens == 0) {
    finish(job, FinishReason::kLength, nullptr);
  }
}

void Engine::draw(Job& job) {
  record_mask(job);
  const bool accepted = job.last_kept();
  Result<Job::Drawn> drawn = accepted ? job.take_last() : job.draw(scratch_);
  if (!drawn) {
    if (drawn.error().code == Errc::kCorrupt) {
      const std::lock_guard lock(mutex_);
      ++(job.constraint_broken() ? stats_.broken_constraints : stats_.nonfinite_rows);
    }
    return finish(job, FinishReason::kError, &drawn.error());
  }
  if (!job.rows_left()) {
    settle(job);
  }
  if (job.constrained() && drawn->finish.has_value() && !accepted) {
    job.keep_last(*std::move(drawn));
    return submit_mask(job);
  }
  if (!drawn->finish.has_value()) {
    submit_mask(job);  // first, so that it is under way while the caller is told
  }
  deliver(job, *drawn);
}

}  // namespace daybreak::engine
