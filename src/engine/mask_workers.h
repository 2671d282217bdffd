// SPDX-License-Identifier: Apache-2.0
#pragma once

// MaskWorkers: a few threads that do the constraints' work of all answers of one engine, so that a
// constraint that takes long holds up its own answer and nobody else's.
//
// A task is in one of three lanes: quick (its work has been quick so far), first (it has not run
// yet: nobody knows) and slow. Worker n serves lanes 0 to n, the quick lane before the first one
// before the slow one. So
//   - however many answers are slow, they take turns on one worker;
//   - one worker does quick work alone. A first run that takes a second keeps one of the other two;
//   - a quick task that turns slow keeps its worker for that one run, then it changes lanes, and
//     quick ones go on with the other workers. All quick answers would have to wait if three
//     workers ran into such a task at the same time, each of which can do so once in
//     kQuickRunsToReturn + 1 runs.
// Time decides where and when a task runs, never what it computes.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace daybreak::engine {

// A run that took longer makes its task a slow one.
inline constexpr std::chrono::milliseconds kQuickMask{5};
// Quick runs in a row after which a slow task is a quick one again: a thread that lost its CPU for
// a while must not keep an answer in the slow lane for good.
inline constexpr std::size_t kQuickRunsToReturn = 4;

enum class MaskLane : std::uint8_t { kQuick, kFirst, kSlow };
inline constexpr std::size_t kMaskLanes = 3;

// Work that is done many times, never by two threads at once.
class MaskTask {
 public:
  explicit MaskTask(std::function<void()> work) : work_(std::move(work)) {}
  MaskTask(const MaskTask&) = delete;
  MaskTask& operator=(const MaskTask&) = delete;

  // Whether a worker has it, or will: true from submit() until the work is done. Once it is false
  // the caller sees everything the work wrote. Thread-safe.
  [[nodiscard]] bool busy() const { return busy_.load(std::memory_order_acquire); }

  // Where it runs next, and how long the last run took. Only while not busy.
  [[nodiscard]] MaskLane lane() const { return lane_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  friend class MaskWorkers;
  void run(const Clock& clock);

  const std::function<void()> work_;
  std::atomic<bool> busy_{false};
  MaskLane lane_ = MaskLane::kFirst;
  std::size_t quick_runs_ = 0;  // in a row, while in the slow lane
  double seconds_ = 0.0;
};

// Used by one thread.
class MaskWorkers {
 public:
  // `on_done` is called on a worker's thread after each run, when its task is not busy any more and
  // may be gone. `clock` outlives the workers.
  MaskWorkers(const Clock& clock, std::function<void()> on_done);
  // Waits for the runs that have begun.
  ~MaskWorkers();

  // Runs the task once, soon. REQUIRES: it is not busy. It must live until it is not busy again, or
  // until the workers are gone.
  void submit(MaskTask& task);

  // Takes a task back that no worker has begun. Returns whether it is not busy now.
  [[nodiscard]] bool withdraw(MaskTask& task);

 private:
  struct Worker {
    std::condition_variable wake;
    bool idle = false;
    std::thread thread;
  };

  void serve(std::size_t index);
  [[nodiscard]] MaskTask* take(std::size_t index);  // under the lock; null: nothing to do

  const Clock& clock_;
  const std::function<void()> on_done_;
  std::mutex mutex_;
  std::array<std::deque<MaskTask*>, kMaskLanes> lanes_;  // each task at most once
  std::array<Worker, kMaskLanes> workers_;
  bool stopping_ = false;
};

}  // namespace daybreak::engine
