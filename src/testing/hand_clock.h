// SPDX-License-Identifier: Apache-2.0
#pragma once

// HandClock: a clock that stands still until a test moves it. From any thread. Test code only.

#include <atomic>
#include <chrono>

#include "base/clock.h"

namespace daybreak::testing {

class HandClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(std::chrono::nanoseconds(ticks_)); }
  void advance(std::chrono::nanoseconds time) { ticks_ += time.count(); }

 private:
  std::atomic<std::chrono::nanoseconds::rep> ticks_{0};
};

}  // namespace daybreak::testing
