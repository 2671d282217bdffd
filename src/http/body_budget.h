// SPDX-License-Identifier: Apache-2.0
#pragma once

// BodyBudget: the memory that the bodies of all requests may take together, from their first bytes
// until they have been answered. Clients that send much and slowly, or wait in a queue, cannot take
// more of it by being many.

#include <atomic>
#include <cstddef>

namespace daybreak::http {

// Of each body this much is free, so that a small request is never refused for others' large ones.
inline constexpr std::size_t kFreeBodyBytes = std::size_t{64} * 1024;

// Thread-safe.
class BodyBudget {
 public:
  // Takes `bytes` more of `limit`, unless there are not as many left. Returns whether it did.
  [[nodiscard]] bool take(std::size_t bytes, std::size_t limit) {
    std::size_t taken = taken_.load(std::memory_order_relaxed);
    do {
      if (taken > limit || bytes > limit - taken) {
        return false;
      }
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }
  // Gives back what take() took.
  void give(std::size_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

  [[nodiscard]] std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> taken_{0};
};

}  // namespace daybreak::http
