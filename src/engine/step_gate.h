// SPDX-License-Identifier: Apache-2.0
#pragma once

// StepGate: lets a test decide when the engine's steps go on. Test code only.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>

#include "engine/fake_model.h"

namespace daybreak::engine {

// Holds the engine inside each step until it is opened.
class StepGate {
 public:
  explicit StepGate(FakeModel::Observer& observer) {
    observer.before_step = [this](std::span<const StepChunk>) {
      std::unique_lock lock(mutex_);
      ++entered_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return opened_ >= entered_; });
      return ok();
    };
  }
  void wait_entered() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return entered_ == opened_ + 1; });
  }
  void open() { open_steps(1); }
  void open_for_good() { open_steps(1'000'000); }

 private:
  void open_steps(std::size_t count) {
    const std::lock_guard lock(mutex_);
    opened_ += count;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t entered_ = 0;
  std::size_t opened_ = 0;
};

}  // namespace daybreak::engine
