// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one pass over the layers works on: up to a workspace's capacity of tokens, from one or more
// sequences, lying one after the other in every activation buffer.

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/sequence_state.h"

namespace daybreak::model {

class LoraAdapter;

// Consecutive tokens of one sequence. No two segments of a step share a sequence.
struct Segment {
  SequenceState* state = nullptr;
  std::size_t first_token = 0;           // row in the activation buffers
  std::size_t tokens = 0;                // >= 1
  std::size_t position = 0;              // of the first token
  std::size_t drafts = 0;                // the last of them are guesses, see SequenceState::accept
  const LoraAdapter* adapter = nullptr;  // that the sequence is computed with; null: none
};

// Where a segment's tokens come from and its logits go to: ids [first_id, first_id + tokens) of a
// chunk of the call.
struct SegmentSource {
  std::size_t chunk = 0;
  std::size_t first_id = 0;
};

// One row of logits to compute: of which token of the step, for which row of which chunk.
struct LogitTarget {
  std::size_t token = 0;
  std::size_t chunk = 0;
  std::size_t row = 0;
  std::size_t position = 0;
};

// What forward passes did so far, for metrics and benches.
struct StepCounters {
  std::uint64_t steps = 0;   // passes over the layers
  std::uint64_t tokens = 0;  // sum over the steps
  std::uint64_t logit_rows = 0;
  std::uint64_t logit_steps = 0;   // steps that read the head
  std::uint64_t experts_read = 0;  // sum over steps and layers of the experts in use
};

struct Step {
  std::span<const Segment> segments;
  std::size_t tokens = 0;  // sum over the segments
};

}  // namespace daybreak::model
