// SPDX-License-Identifier: Apache-2.0
#pragma once

// The settings of published cache events, spelled as vLLM's --kv-events-config.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::events {

struct KvEventsConfig {
  bool enabled = false;
  // Of ZeroMQ: bound if it has `*` or `::` or is ipc or inproc, else connected to.
  std::string endpoint = "tcp://*:5557";
  std::string replay_endpoint;           // bound; empty: no replay
  std::string topic;                     // first frame of each message
  std::size_t buffer_steps = 10'000;     // batches that can be replayed. 1 to kMaxBufferSteps
  std::size_t hwm = 100'000;             // messages kept for each slow subscriber. 1 to kMaxHwm
  std::size_t max_queue_size = 100'000;  // batches that wait to be sent. 1 to kMaxHwm
};

inline constexpr std::size_t kMaxBufferSteps = 1'000'000;
inline constexpr std::size_t kMaxHwm = 1'000'000;

// Empty text: the defaults, which publish nothing. `enable_kv_cache_events` is needed to publish.
// Errors: kInvalidArgument: no JSON object, an unknown key, a value of the wrong type or range, a
// publisher other than "zmq" and "null"; the message names the key.
[[nodiscard]] Result<KvEventsConfig> parse_kv_events_config(std::string_view text);

}  // namespace daybreak::events
