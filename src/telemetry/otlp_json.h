// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bodies of OTLP/HTTP requests in the JSON mapping of opentelemetry-proto 1.x: identifiers in
// hexadecimal, 64-bit integers as strings, enumerations as numbers. Source: the protocol's
// specification, sections "JSON Protobuf Encoding" and the .proto files it maps.

#include <span>
#include <string>
#include <string_view>

#include "telemetry/metric.h"
#include "telemetry/span.h"

namespace daybreak::telemetry {

// Who sends: the process, and the code that made the data.
struct Source {
  Attributes resource;
  std::string scope;    // "daybreak"
  std::string version;  // of it
};

// Each returns one line of valid UTF-8, whatever bytes a string holds.
[[nodiscard]] std::string export_spans_json(const Source& source, std::span<const Span> spans);
[[nodiscard]] std::string export_metrics_json(const Source& source,
                                              std::span<const Metric> metrics);

// Returns how many items a collector says it did not take, from the body of its answer; 0 for an
// empty body and for one that is something else.
[[nodiscard]] std::uint64_t rejected_items(std::string_view body);

}  // namespace daybreak::telemetry
