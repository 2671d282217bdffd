// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stats: what a Generator has done so far, as plain numbers. A snapshot: the metrics endpoint reads
// it on each scrape; nothing here knows about exposition formats.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fixed_histogram.h"
#include "cache/block_times.h"
#include "cache/disk_jobs.h"

namespace daybreak::engine {

// Upper bounds in seconds, those of vLLM, so that its dashboards fit, and more where a CPU is
// faster or slower than what they were made for: a prompt of a million tokens takes an hour.
inline constexpr std::array kFirstTokenBounds = {
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08,  0.1,   0.25,  0.5,    0.75,   1.0,   2.5,
    5.0,   7.5,   10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2560.0, 3600.0};
inline constexpr std::array kTokenGapBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1,
                                               0.15,  0.2,    0.3,   0.4,  0.5,   0.75, 1.0,   2.5,
                                               5.0,   7.5,    10.0,  20.0, 40.0,  80.0};
inline constexpr std::array kRequestBounds = {0.3,  0.5,   0.8,   1.0,   1.5,   2.0,    2.5,
                                              5.0,  10.0,  15.0,  20.0,  30.0,  40.0,   50.0,
                                              60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};
inline constexpr std::array kMaskBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                           0.1,   0.25,   0.5,   1.0,  2.5,   5.0};
// Of tokens: 1, 2, 5, 10, ... up to the largest context.
inline constexpr std::array kRequestTokenBounds = {
    1.0,    2.0,    5.0,     10.0,    20.0,    50.0,     100.0,    200.0,    500.0, 1e3,
    2000.0, 5000.0, 10000.0, 20000.0, 50000.0, 100000.0, 200000.0, 500000.0, 1e6,   2e6};
inline constexpr std::array kStepTokenBounds = {1.0,    8.0,    16.0,    32.0,    64.0,
                                                128.0,  256.0,  512.0,   1024.0,  2048.0,
                                                4096.0, 8192.0, 16384.0, 32768.0, 65536.0};

// The most guesses that a step can have for one request.
inline constexpr std::size_t kMaxDraftTokens = 16;

// When things happened to a request; unset: not (yet).
struct RequestTimes {
  Clock::TimePoint submitted{};
  std::optional<Clock::TimePoint> started;      // given a slot
  std::optional<Clock::TimePoint> displaced;    // lost its place in the queue, before it started
  std::optional<Clock::TimePoint> first_token;  // drawn
  std::optional<Clock::TimePoint> finished;
};

// What is known of a request that has ended.
struct RequestEnd {
  RequestTimes times;
  std::size_t prompt_tokens = 0;
  std::size_t cached_tokens = 0;  // of the prompt, from a kept sequence
  std::size_t generated_tokens = 0;
};

struct Stats {
  // Now.
  std::size_t queued = 0;   // submitted, not yet given a slot
  std::size_t running = 0;  // holding a slot
  std::size_t slots = 0;
  std::size_t positions_reserved = 0;  // of the state pool, by running requests
  std::size_t kept_sequences = 0;      // of requests that ended, for later ones to go on from
  std::size_t kept_positions = 0;      // of the state pool; given up when a request needs them
  std::size_t cached_blocks = 0;       // of 64 positions, in the prefix cache
  std::size_t checkpoints = 0;         // from which sequences can start
  std::size_t positions_total = 0;
  std::size_t block_positions = 0;  // positions come in blocks of so many; 0: not said
  // Names of the adapters that such requests are computed with, ascending.
  std::vector<std::string> queued_adapters;
  std::vector<std::string> running_adapters;
  bool draining = false;
  std::optional<cache::DiskStats> disk;  // nothing: the prefix cache has none
  // Since start.
  std::uint64_t submitted = 0;    // accepted by submit()
  std::uint64_t rejected = 0;     // refused by submit()
  std::uint64_t displaced = 0;    // lost their place in the queue; part of finished_error
  std::uint64_t preemptions = 0;  // of running requests, which wait again
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
  std::uint64_t evicted_blocks = 0;       // of the prefix cache
  std::uint64_t evicted_checkpoints = 0;  // likewise
  cache::BlockTimes block_times;          // likewise
  std::uint64_t decode_tokens = 0;        // generated positions computed
  std::uint64_t generated_tokens = 0;
  // Speculation: steps of a request with guesses, the guesses, and those that were right, in all
  // and by their place among those of their step, from 0.
  std::size_t draft_tokens_at_most = 0;  // of one step of a request; 0: no speculation
  std::uint64_t drafts = 0;
  std::uint64_t draft_tokens = 0;
  std::uint64_t accepted_tokens = 0;
  std::array<std::uint64_t, kMaxDraftTokens> accepted_at{};
  std::uint64_t nonfinite_rows = 0;      // rows of logits refused because of a NaN or an infinity
  std::uint64_t broken_constraints = 0;  // answers ended because their constraint failed
  std::uint64_t mask_waits = 0;          // steps that answers sat out, waiting for their masks
  FixedHistogram<kFirstTokenBounds> queue_time;           // submit() -> slot
  FixedHistogram<kFirstTokenBounds> time_to_first_token;  // submit() -> first token
  FixedHistogram<kTokenGapBounds> time_per_output_token;  // each later token, from the one before
  FixedHistogram<kMaskBounds> mask_time;                  // a constraint's work for one token
  FixedHistogram<kFirstTokenBounds> disk_load_time;  // of a beginning from the disk, good or bad
  FixedHistogram<kRequestBounds> request_time;       // submit() -> finished, any reason
  FixedHistogram<kStepTokenBounds> step_tokens;      // ids fed in one step
  // Of requests that ended with kStop or kLength. The times: of those that drew a token.
  FixedHistogram<kRequestTokenBounds> request_prompt_tokens;
  FixedHistogram<kRequestTokenBounds> request_computed_prompt_tokens;
  FixedHistogram<kRequestTokenBounds> request_generated_tokens;
  FixedHistogram<kFirstTokenBounds> prefill_time;  // slot -> first token
  FixedHistogram<kRequestBounds> decode_time;      // first token -> finished
  FixedHistogram<kRequestBounds> inference_time;   // slot -> finished
  // first token -> finished, by the tokens after the first; of those that have some.
  FixedHistogram<kTokenGapBounds> request_time_per_output_token;

  // Counts a request that was answered: kStop or kLength.
  void observe_answered(const RequestEnd& end);
};

}  // namespace daybreak::engine
