// SPDX-License-Identifier: Apache-2.0
#pragma once

// WaitingQueue: requests that have no slot yet, in the order in which they get one. Of two the one
// of higher priority goes first, of the same priority the one that came first. A request gains one
// level for every kPriorityAge it waits, so that none waits for ever: those of the highest priority
// that come more than kMaxPriority * kPriorityAge after it go behind it.

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "engine/job.h"

namespace daybreak::engine {

inline constexpr std::chrono::seconds kPriorityAge{30};

// Not thread-safe.
class WaitingQueue {
 public:
  void add(std::unique_ptr<Job> job);

  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  // REQUIRES: !empty().
  [[nodiscard]] Job& front() const { return *jobs_.front(); }

  // Takes a job out. REQUIRES: it is in the queue.
  [[nodiscard]] std::unique_ptr<Job> remove(const Job& job);
  [[nodiscard]] std::vector<std::unique_ptr<Job>> remove_cancelled();

 private:
  std::deque<std::unique_ptr<Job>> jobs_;
};

}  // namespace daybreak::engine
