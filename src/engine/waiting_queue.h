// SPDX-License-Identifier: Apache-2.0
#pragma once

// WaitingQueue: requests that have no slot yet, in the order in which they get one. Of two the one
// of higher priority goes first, of the same priority the one that came first. A request gains one
// level for every kPriorityAge it waits, so that none waits for ever: those of the highest priority
// that come more than kMaxPriority * kPriorityAge after it go behind it.
//
// A place in it can be given to one that comes: that of the last one that yields, if it would start
// after the one that comes. It stays here, without a place, until it is told. One that has started
// and was preempted never loses its place.

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "engine/job.h"

namespace daybreak::engine {

inline constexpr std::chrono::seconds kPriorityAge{30};

// The order: whether `one` starts before `other`. It is the same for two as long as they live.
[[nodiscard]] bool starts_before(const Job& one, const Job& other);

// Not thread-safe.
class WaitingQueue {
 public:
  void add(std::unique_ptr<Job> job);

  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  // Those that have a place.
  [[nodiscard]] std::size_t size() const { return jobs_.size() - displaced_; }
  // Returns the first that does not wait aside; null: none.
  [[nodiscard]] Job* front() const;
  // Returns all that wait aside. A job does so by the engine's thread only.
  [[nodiscard]] std::vector<Job*> aside() const;

  // All that are in it, in their order, those without a place too.
  [[nodiscard]] const std::deque<std::unique_ptr<Job>>& jobs() const { return jobs_; }

  // Returns who has the place that a request of this priority that comes `now` may take; null:
  // nobody.
  [[nodiscard]] Job* find_displaceable(Clock::TimePoint now, int priority) const;
  // Takes its place. REQUIRES: it is in the queue and has one.
  void displace(Job& job) {
    job.displaced = true;
    ++displaced_;
  }

  // Takes a job out. REQUIRES: it is in the queue.
  [[nodiscard]] std::unique_ptr<Job> remove(const Job& job);
  // Takes out those that were cancelled or displaced.
  [[nodiscard]] std::vector<std::unique_ptr<Job>> remove_dropped();

 private:
  std::deque<std::unique_ptr<Job>> jobs_;  // without a place: at most all of each lower priority
  std::size_t displaced_ = 0;              // of these
};

}  // namespace daybreak::engine
