// SPDX-License-Identifier: Apache-2.0
#pragma once

// Publishing what enters and leaves the server's prefix cache.

#include <memory>

#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "cache/event_sink.h"
#include "events/kv_events_config.h"

namespace daybreak::cli {

// Returns the publisher, whose counts `metrics` exposes and whose endpoints `log` is told; null if
// none is wanted. Errors: as KvEventPublisher::start.
[[nodiscard]] Result<std::shared_ptr<cache::EventSink>> publish_cache_events(
    const events::KvEventsConfig& config, Metrics& metrics, Log& log);

}  // namespace daybreak::cli
