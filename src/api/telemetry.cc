// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry.h"

#include <optional>
#include <utility>

#include "api/gen_ai_spans.h"

namespace daybreak::api {

Result<std::unique_ptr<Telemetry>> Telemetry::start(TelemetryOptions options, Log& log) {
  std::unique_ptr<Telemetry> out(new Telemetry(options.sampler));  // NOLINT: private constructor
  DAYBREAK_TRY(out->exporter_, telemetry::Exporter::start(
                                   std::move(options.exporter),
                                   [&metrics = out->metrics_] { return metrics.collect(); }, log));
  return out;
}

void Telemetry::record(const RequestFacts& facts) {
  metrics_.record(facts);
  if (!exporter_->exports_spans()) {
    return;
  }
  const auto parent = span_context(facts.traceparent);
  const telemetry::TraceId trace_id = parent ? parent->trace_id : random_trace_id();
  const auto parent_sampled = parent ? std::optional(parent->sampled) : std::nullopt;
  if (sampler_.samples(trace_id, parent_sampled)) {
    exporter_->add(request_spans(facts, trace_id, parent));
  }
}

void Telemetry::report(MetricsSink& sink) const {
  const telemetry::ExporterStats stats = exporter_->stats();
  const auto count = [&](const char* name, const char* help, std::uint64_t value,
                         const MetricLabels& labels) {
    sink.counter(name, help, static_cast<double>(value), labels);
  };
  constexpr const char* kSpans = "daybreak_otlp_spans_total";
  constexpr const char* kSpansHelp = "Spans by what became of them";
  count(kSpans, kSpansHelp, stats.spans_exported, {{"result", "exported"}});
  count(kSpans, kSpansHelp, stats.spans_rejected, {{"result", "rejected"}});
  count(kSpans, kSpansHelp, stats.spans_dropped_full, {{"result", "dropped_queue_full"}});
  count(kSpans, kSpansHelp, stats.spans_dropped_failed, {{"result", "dropped_failed"}});
  constexpr const char* kMetrics = "daybreak_otlp_metric_exports_total";
  constexpr const char* kMetricsHelp = "Exports of metrics by what became of them";
  count(kMetrics, kMetricsHelp, stats.metrics_exported, {{"result", "exported"}});
  count(kMetrics, kMetricsHelp, stats.metrics_failed, {{"result", "failed"}});
  count("daybreak_otlp_attempts_failed_total", "Calls of the collector that failed",
        stats.attempts_failed, {});
  sink.gauge("daybreak_otlp_spans_queued", "Spans waiting to be sent",
             static_cast<double>(stats.spans_queued), {});
}

}  // namespace daybreak::api
