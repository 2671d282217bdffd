// SPDX-License-Identifier: Apache-2.0
#include "engine/waiting_queue.h"

#include <algorithm>
#include <utility>

namespace daybreak::engine {
namespace {

// All gain levels at the same rate, so that the order of two never changes: as if each had come
// kPriorityAge earlier for every level it has.
Clock::TimePoint rank(const std::unique_ptr<Job>& job) {
  return job->times.submitted - job->request().priority * kPriorityAge;
}

}  // namespace

void WaitingQueue::add(std::unique_ptr<Job> job) {
  const auto place = std::ranges::upper_bound(jobs_, rank(job), {}, rank);
  jobs_.insert(place, std::move(job));
}

std::unique_ptr<Job> WaitingQueue::remove(const Job& job) {
  const auto place =
      std::ranges::find_if(jobs_, [&](const auto& waiting) { return waiting.get() == &job; });
  std::unique_ptr<Job> out = std::move(*place);
  jobs_.erase(place);
  return out;
}

std::vector<std::unique_ptr<Job>> WaitingQueue::remove_cancelled() {
  std::vector<std::unique_ptr<Job>> out;
  for (std::unique_ptr<Job>& job : jobs_) {
    if (job->cancelled) {
      out.push_back(std::move(job));
    }
  }
  std::erase(jobs_, nullptr);
  return out;
}

}  // namespace daybreak::engine
