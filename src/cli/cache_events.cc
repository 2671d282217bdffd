// SPDX-License-Identifier: Apache-2.0
#include "cli/cache_events.h"

#include <string_view>
#include <utility>

#include "events/kv_event_publisher.h"

namespace daybreak::cli {
namespace {

void report(MetricsSink& sink, const events::KvEventPublisher::Stats& stats) {
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  sink.counter("daybreak_kv_event_batches_total", "Batches of cache events sent",
               number(stats.batches), {});
  sink.counter("daybreak_kv_events_total", "Cache events sent in them", number(stats.events), {});
  sink.counter("daybreak_kv_event_batches_dropped_total",
               "Batches of cache events that found no place in the queue", number(stats.dropped),
               {});
  sink.counter("daybreak_kv_event_replays_total", "Requests for earlier cache events",
               number(stats.replays), {});
}

}  // namespace

Result<std::shared_ptr<cache::EventSink>> publish_cache_events(const events::KvEventsConfig& config,
                                                               Metrics& metrics, Log& log) {
  if (!config.enabled) {
    return std::shared_ptr<cache::EventSink>();
  }
  DAYBREAK_TRY(std::shared_ptr<events::KvEventPublisher> publisher,
               events::KvEventPublisher::start(config));
  log.info("cache events", {{"endpoint", std::string_view(publisher->endpoint())},
                            {"replay_endpoint", std::string_view(publisher->replay_endpoint())}});
  metrics.add_collector([publisher](MetricsSink& sink) { report(sink, publisher->stats()); });
  return std::shared_ptr<cache::EventSink>(std::move(publisher));
}

}  // namespace daybreak::cli
