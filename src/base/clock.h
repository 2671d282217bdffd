// SPDX-License-Identifier: Apache-2.0
#pragma once

// Clock: where durations come from, replaceable so that tests of latencies need no sleeping.

#include <chrono>

namespace daybreak {

class Clock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;  // Never goes back. Thread-safe.

  // Returns the machine's monotonic clock; lives for the whole process.
  [[nodiscard]] static const Clock& steady();
};

// Returns b - a in seconds.
[[nodiscard]] inline double seconds_between(Clock::TimePoint a, Clock::TimePoint b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace daybreak
