// SPDX-License-Identifier: Apache-2.0
#include "engine/step_timeline.h"

#include <algorithm>
#include <utility>

namespace daybreak::engine {

StepTimeline::StepTimeline(std::size_t steps, const Clock& clock)
    : capacity_(std::min(steps, kMaxTimelineSteps)), clock_(clock) {}

void StepTimeline::begin() {
  if (capacity_ > 0) {
    current_.feeds.clear();
    current_.began = clock_.now();
  }
}

void StepTimeline::feed(const StepFeed& feed) {
  if (capacity_ > 0) {
    current_.feeds.push_back(feed);
  }
}

void StepTimeline::end(StepPhase phase) {
  if (capacity_ > 0) {
    current_.ends[static_cast<std::size_t>(phase)] = clock_.now();
  }
}

void StepTimeline::commit(std::size_t running, std::size_t sat_out) {
  if (capacity_ == 0) {
    return;
  }
  current_.running = running;
  current_.sat_out = sat_out;
  const std::lock_guard lock(mutex_);
  const std::size_t at = committed_ % capacity_;
  current_.number = ++committed_;
  if (at == ring_.size()) {
    ring_.push_back(current_);
  } else {
    std::swap(ring_[at], current_);  // whose memory the next step uses
  }
}

std::vector<StepRecord> StepTimeline::steps() const {
  const std::lock_guard lock(mutex_);
  std::vector<StepRecord> out = ring_;
  std::ranges::sort(out, {}, &StepRecord::number);
  return out;
}

}  // namespace daybreak::engine
