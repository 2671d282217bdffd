// SPDX-License-Identifier: Apache-2.0
#include "engine/waiting_queue.h"

#include <algorithm>
#include <utility>

namespace daybreak::engine {
namespace {

// All gain levels at the same rate, so that the order of two never changes: as if each had come
// kPriorityAge earlier for every level it has.
Clock::TimePoint rank(Clock::TimePoint submitted, int priority) {
  return submitted - priority * kPriorityAge;
}
Clock::TimePoint rank_of(const Job& job) {
  return rank(job.times.submitted, job.request().priority);
}

}  // namespace

bool starts_before(const Job& one, const Job& other) {
  return std::pair(rank_of(one), one.id()) < std::pair(rank_of(other), other.id());
}

void WaitingQueue::add(std::unique_ptr<Job> job) {
  const auto place = std::ranges::upper_bound(
      jobs_, *job, starts_before, [](const auto& waiting) -> const Job& { return *waiting; });
  jobs_.insert(place, std::move(job));
}

Job* WaitingQueue::front() const {
  const auto first = std::ranges::find_if(jobs_, [](const auto& job) { return !job->aside; });
  return first == jobs_.end() ? nullptr : first->get();
}

std::vector<Job*> WaitingQueue::aside() const {
  std::vector<Job*> out;
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (job->aside) {
      out.push_back(job.get());
    }
  }
  return out;
}

Job* WaitingQueue::find_displaceable(Clock::TimePoint now, int priority) const {
  const Clock::TimePoint its = rank(now, priority);
  for (auto job = jobs_.rbegin(); job != jobs_.rend() && rank_of(**job) > its; ++job) {
    const bool has_place = !(*job)->displaced && !(*job)->cancelled;
    if (has_place && (*job)->request().yields_place && !(*job)->preempted()) {
      return job->get();
    }
  }
  return nullptr;
}

std::unique_ptr<Job> WaitingQueue::remove(const Job& job) {
  const auto place =
      std::ranges::find_if(jobs_, [&](const auto& waiting) { return waiting.get() == &job; });
  std::unique_ptr<Job> out = std::move(*place);
  jobs_.erase(place);
  displaced_ -= out->displaced ? 1 : 0;
  return out;
}

std::vector<std::unique_ptr<Job>> WaitingQueue::remove_dropped() {
  std::vector<std::unique_ptr<Job>> out;
  for (std::unique_ptr<Job>& job : jobs_) {
    if (job->cancelled || job->displaced) {
      displaced_ -= job->displaced ? 1 : 0;
      out.push_back(std::move(job));
    }
  }
  std::erase(jobs_, nullptr);
  return out;
}

}  // namespace daybreak::engine
