// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stats: what a Generator has done so far, as plain numbers. A snapshot: the metrics endpoint reads
// it on each scrape; nothing here knows about exposition formats.

#include <array>
#include <cstddef>
#include <cstdint>

namespace daybreak::engine {

// Counts of durations by upper bound, in the cumulative-friendly form metric systems expect:
// counts[i] holds the durations in (kBoundsSeconds[i-1], kBoundsSeconds[i]], the last one the rest.
struct LatencyHistogram {
  static constexpr std::array<double, 16> kBoundsSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                            0.1,   0.25,   0.5,   1.0,  2.5,   5.0,
                                                            10.0,  25.0,   60.0,  300.0};
  std::array<std::uint64_t, kBoundsSeconds.size() + 1> counts{};
  std::uint64_t total = 0;
  double sum_seconds = 0.0;

  void observe(double seconds);
};

struct Stats {
  // Now.
  std::size_t queued = 0;   // submitted, not yet given a slot
  std::size_t running = 0;  // holding a slot
  std::size_t slots = 0;
  std::size_t positions_reserved = 0;  // of the state pool, by running requests
  std::size_t kept_sequences = 0;      // of requests that ended, for later ones to go on from
  std::size_t kept_positions = 0;      // of the state pool; given up when a request needs them
  std::size_t positions_total = 0;
  bool draining = false;
  // Since start.
  std::uint64_t submitted = 0;  // accepted by submit()
  std::uint64_t rejected = 0;   // refused by submit()
  std::uint64_t finished_stop = 0;
  std::uint64_t finished_length = 0;
  std::uint64_t finished_cancelled = 0;
  std::uint64_t finished_error = 0;
  std::uint64_t steps = 0;           // calls of the model
  std::uint64_t prefill_tokens = 0;  // prompt positions computed
  // Prompt tokens of started requests that could have gone on from a kept sequence, and how many
  // of them did not have to be computed.
  std::uint64_t prefix_queries = 0;
  std::uint64_t prefix_hits = 0;
  std::uint64_t decode_tokens = 0;  // generated positions computed
  std::uint64_t generated_tokens = 0;
  std::uint64_t nonfinite_rows = 0;        // rows of logits refused because of a NaN or an infinity
  std::uint64_t broken_constraints = 0;    // answers ended because their constraint failed
  std::uint64_t mask_waits = 0;            // steps that answers sat out, waiting for their masks
  LatencyHistogram queue_time;             // submit() -> slot
  LatencyHistogram time_to_first_token;    // submit() -> first token
  LatencyHistogram time_per_output_token;  // each later token, from the one before
  LatencyHistogram mask_time;              // a constraint's work for one token
  LatencyHistogram request_time;           // submit() -> finished, any reason
};

}  // namespace daybreak::engine
