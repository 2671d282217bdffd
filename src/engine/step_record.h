// SPDX-License-Identifier: Apache-2.0
#pragma once

// StepRecord: what one step of an engine did, and when. Numbers only, never ids of tokens.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace daybreak::engine {

// The parts of a step, in their order; each begins where the one before it ends.
enum class StepPhase : std::uint8_t {
  kPlan,      // who feeds how many ids
  kForward,   // the model
  kSample,    // of all whose mask is there
  kMaskWait,  // for the masks of others (kMaskGrace at most)
  kLateSample,
};
inline constexpr std::size_t kStepPhases = 5;

// What one request fed in a step.
struct StepFeed {
  std::uint64_t request = 0;  // RequestId
  std::uint32_t slot = 0;     // which of the engine's slots it holds
  std::uint32_t tokens = 0;
  bool prefill = false;  // of the prompt
};

struct StepRecord {
  std::uint64_t number = 0;  // of the step, from 1
  Clock::TimePoint began{};
  std::array<Clock::TimePoint, kStepPhases> ends{};  // of each phase
  std::size_t running = 0;                           // requests holding a slot
  std::size_t sat_out = 0;                           // of these, not in this step
  std::vector<StepFeed> feeds;
};

}  // namespace daybreak::engine
