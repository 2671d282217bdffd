// SPDX-License-Identifier: Apache-2.0
#pragma once

// Constraints that wait for a test: a Latch holds the threads that pass it until it is opened. Test
// code only.

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/scripted_constraint.h"

namespace daybreak::engine {

// Thread-safe.
class Latch {
 public:
  // Counts the caller, then returns once the latch is open.
  void pass() {
    std::unique_lock lock(mutex_);
    ++entered_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Returns once so many have come.
  void wait_entered(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_ >= count; });
  }
  std::size_t entered() {
    const std::lock_guard lock(mutex_);
    return entered_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t entered_ = 0;
  bool open_ = false;
};

inline constexpr std::size_t kEveryMask = ~std::size_t{0};

// Masks by `rule`; the mask after `block_at` ids passes the latch first, which may be null.
inline ConstraintFactory blocking_constraint(ScriptedConstraint::Rule rule, Latch* latch,
                                             std::size_t block_at) {
  return ScriptedConstraint::factory(
      [rule = std::move(rule), latch, block_at](const std::vector<TokenId>& accepted) {
        if (latch != nullptr && (block_at == kEveryMask || block_at == accepted.size())) {
          latch->pass();
        }
        return rule(accepted);
      });
}

}  // namespace daybreak::engine
