// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replays a trace against a server: sends each request when it is due, reads the answers, and adds
// up what came.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "loadgen/prompt_writer.h"
#include "loadgen/record.h"
#include "loadgen/tally.h"
#include "loadgen/target.h"
#include "loadgen/token_ratio.h"
#include "loadgen/trace.h"

namespace daybreak::loadgen {

inline constexpr std::size_t kMaxConcurrency = 10'000;
// Conversations that have begun and are not over; more begin when one is.
inline constexpr std::size_t kMaxOpenConversations = 20'000;

struct ReplayOptions {
  Target target;
  TokenRatio ratio;
  double speed = 1;  // of the trace's times: 2 replays it in half the time
  // Conversations per second instead of the trace's times for their beginnings; infinite: all at
  // once. Times within a conversation stay.
  std::optional<double> request_rate;
  double burstiness = 1;  // see Arrivals
  std::uint64_t seed = 0;
  std::size_t max_concurrency = 1'024;  // requests in flight
  Slos slos;
  std::function<bool()> interrupted = [] { return false; };  // true: what is there is the result
  std::function<void(std::size_t ended)> on_progress = nullptr;
  std::function<Status(const RequestRecord&)> on_record = nullptr;  // an error ends the run
};

// A request is due at its time in the trace, and not before its conversation's answer before has
// come and the trace's time to think is over; it is sent then, or as soon as fewer than
// max_concurrency are in flight. A turn that fails is followed by the next.
// Errors: those of connect() and of on_record; of `source` if it fails in the middle.
[[nodiscard]] Result<Tally> replay(TraceSource& source, const PromptWriter& writer,
                                   const ReplayOptions& options);

}  // namespace daybreak::loadgen
