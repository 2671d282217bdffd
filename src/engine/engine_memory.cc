// SPDX-License-Identifier: Apache-2.0
// Memory for answers that grow, and who has to go when there is none.
#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"
#include "engine/engine.h"

namespace daybreak::engine {

void Engine::make_room(std::vector<Job*>& ready) {
  std::vector<Job*> growing;
  for (Job* job : ready) {
    if (job->position() + slot_rows_ > job->reserved && job->reserved < job->positions()) {
      growing.push_back(job);
    }
  }
  // Who comes first goes first: those behind it may have to go.
  std::ranges::sort(growing, [](const Job* a, const Job* b) { return starts_before(*a, *b); });
  for (Job* job : growing) {
    if (std::ranges::find(ready, job) != ready.end()) {
      make_room(*job, ready);
    }
  }
  if (!growing.empty()) {
    record_memory();
  }
}

void Engine::make_room(Job& job, std::vector<Job*>& ready) {
  const std::uint64_t holds = slots_.holds();
  Status room = slots_.grow(job, job.positions_ahead(options_.answer_reserve));
  while (!room && job.position() == job.reserved) {
    room = slots_.grow(job, job.positions_ahead(1));
    Job* const victim = room ? nullptr : victim_for(job);
    if (victim == nullptr) {
      break;
    }
    std::erase(ready, victim);
    if (!preempt(*victim)) {
      break;
    }
  }
  if (room || job.position() < job.reserved) {
    return;
  }
  std::erase(ready, &job);  // until somebody has given something back
  if (running_.size() == 1 && !slots_.in_motion(holds)) {
    finish(job, FinishReason::kError, &room.error());  // nobody will
    remove_finished();
  }
}

Job* Engine::victim_for(const Job& job) const {
  Job* last = nullptr;
  for (const std::unique_ptr<Job>& other : running_) {
    if (other->may_be_preempted() && starts_before(last == nullptr ? job : *last, *other)) {
      last = other.get();
    }
  }
  return last;
}

Status Engine::preempt(Job& job) {
  DAYBREAK_TRY(ProcessedSequence left,
               or_out_of_memory(Errc::kResourceLimit, "a request that waits again",
                                [&] { return Result(job.preempt()); }));
  slots_.give_back(job.slot(), std::move(left));
  job.trail = {};
  job.fetched = false;
  job.reserved = 0;
  const std::lock_guard lock(mutex_);
  job.displaced = false;  // it started before it was told
  ++stats_.preemptions;
  --stats_.running;
  const auto place = std::ranges::find(running_, &job, &std::unique_ptr<Job>::get);
  waiting_.add(std::move(*place));
  running_.erase(place);
  return ok();
}

}  // namespace daybreak::engine
