// SPDX-License-Identifier: Apache-2.0
#include "engine/mask_workers.h"

#include <algorithm>
#include <utility>

namespace daybreak::engine {

void MaskTask::run(const Clock& clock) {
  const Clock::TimePoint began = clock.now();
  work_();
  const Clock::TimePoint ended = clock.now();
  seconds_ = seconds_between(began, ended);
  if (ended - began > kQuickMask) {
    lane_ = MaskLane::kSlow;
    quick_runs_ = 0;
  } else if (lane_ != MaskLane::kSlow || ++quick_runs_ == kQuickRunsToReturn) {
    lane_ = MaskLane::kQuick;
  }
  busy_.store(false, std::memory_order_release);  // the last touch
}

MaskWorkers::MaskWorkers(const Clock& clock, std::function<void()> on_done)
    : clock_(clock), on_done_(std::move(on_done)) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].thread = std::thread([this, i] { serve(i); });
  }
}

MaskWorkers::~MaskWorkers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (Worker& worker : workers_) {
    worker.wake.notify_one();
  }
  for (Worker& worker : workers_) {
    worker.thread.join();
  }
}

void MaskWorkers::submit(MaskTask& task) {
  const auto lane = static_cast<std::size_t>(task.lane_);
  Worker* woken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    task.busy_.store(true, std::memory_order_relaxed);
    lanes_[lane].push_back(&task);
    // The most specialised one, so that the others stay free for what only they do. If none is idle
    // the next that becomes free finds the task.
    for (std::size_t i = lane; i < workers_.size() && woken == nullptr; ++i) {
      woken = workers_[i].idle ? &workers_[i] : nullptr;
    }
    if (woken != nullptr) {
      woken->idle = false;
    }
  }
  if (woken != nullptr) {
    woken->wake.notify_one();
  }
}

bool MaskWorkers::withdraw(MaskTask& task) {
  const std::lock_guard lock(mutex_);
  for (std::deque<MaskTask*>& lane : lanes_) {
    if (std::erase(lane, &task) != 0) {
      task.busy_.store(false, std::memory_order_relaxed);
    }
  }
  return !task.busy();
}

MaskTask* MaskWorkers::take(std::size_t index) {
  for (std::size_t lane = 0; lane <= index && !stopping_; ++lane) {
    if (!lanes_[lane].empty()) {
      MaskTask* task = lanes_[lane].front();
      lanes_[lane].pop_front();
      return task;
    }
  }
  return nullptr;
}

void MaskWorkers::serve(std::size_t index) {
  Worker& self = workers_[index];
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (MaskTask* task = take(index); task != nullptr) {
      lock.unlock();
      task->run(clock_);
      on_done_();
      lock.lock();
      continue;
    }
    self.idle = true;
    self.wake.wait(lock, [&] { return stopping_ || !self.idle; });
  }
}

}  // namespace daybreak::engine
