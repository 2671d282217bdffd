// SPDX-License-Identifier: Apache-2.0
#pragma once

// StepTimeline: the last steps of an engine, for somebody who asks why it was slow. A ring of fixed
// length whose entries are reused: a step costs some looks at the clock and no allocation once the
// ring has gone round.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "engine/step_record.h"

namespace daybreak::engine {

inline constexpr std::size_t kMaxTimelineSteps = 65'536;

class StepTimeline {
 public:
  // Keeps the last `steps`; 0: nothing, and every call returns at once. `clock` outlives it.
  StepTimeline(std::size_t steps, const Clock& clock);

  // The engine's thread, in this order: begin(), then feed() and end() of each phase in turn, and
  // commit(). A step that is begun and not committed is forgotten.
  void begin();
  void feed(const StepFeed& feed);
  void end(StepPhase phase);
  void commit(std::size_t running, std::size_t sat_out);

  // Returns the steps kept, oldest first. Thread-safe.
  [[nodiscard]] std::vector<StepRecord> steps() const;

 private:
  const std::size_t capacity_;
  const Clock& clock_;
  StepRecord current_;  // the engine's thread only

  mutable std::mutex mutex_;  // guards what follows
  std::vector<StepRecord> ring_;
  std::uint64_t committed_ = 0;
};

}  // namespace daybreak::engine
