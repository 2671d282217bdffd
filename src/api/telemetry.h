// SPDX-License-Identifier: Apache-2.0
#pragma once

// Telemetry: turns finished requests into OpenTelemetry spans and metrics, and has them exported.

#include <chrono>
#include <memory>

#include "api/gen_ai_metrics.h"
#include "api/request_facts.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "telemetry/exporter.h"
#include "telemetry/trace_sampler.h"

namespace daybreak::api {

struct TelemetryOptions {
  telemetry::ExporterOptions exporter;
  telemetry::TraceSampler sampler;
};

class Telemetry {
 public:
  // `log` outlives it. Errors: those of Exporter::start().
  [[nodiscard]] static Result<std::unique_ptr<Telemetry>> start(TelemetryOptions options, Log& log);

  // Counts a request, and queues its spans if its trace is one of those exported. Thread-safe,
  // never waits for the network.
  void record(const RequestFacts& facts);

  // What the exporter did, for the metrics endpoint. Thread-safe.
  void report(MetricsSink& sink) const;

  // Sends the rest, for at most about `bound`. Idempotent.
  void stop(std::chrono::milliseconds bound) { exporter_->stop(bound); }

 private:
  explicit Telemetry(telemetry::TraceSampler sampler) : sampler_(sampler) {}

  const telemetry::TraceSampler sampler_;
  GenAiMetrics metrics_;
  std::unique_ptr<telemetry::Exporter> exporter_;  // reads the metrics: destroyed first
};

}  // namespace daybreak::api
