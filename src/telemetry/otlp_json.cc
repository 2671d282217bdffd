// SPDX-License-Identifier: Apache-2.0
#include "telemetry/otlp_json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace daybreak::telemetry {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes) {
    out += fmt::format("{:02x}", byte);
  }
  return out;
}

// A 64-bit integer: JSON's numbers are doubles in most readers.
std::string text(auto value) { return fmt::format("{}", value); }

Json number(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "Infinity" : "-Infinity";
  }
  return value;
}

struct ValueJson {
  Json operator()(const std::string& value) const { return {{"stringValue", value}}; }
  Json operator()(bool value) const { return {{"boolValue", value}}; }
  Json operator()(std::int64_t value) const { return {{"intValue", text(value)}}; }
  Json operator()(double value) const { return {{"doubleValue", number(value)}}; }
  Json operator()(const std::vector<std::string>& values) const {
    Json items = Json::array();
    for (const std::string& value : values) {
      items.push_back((*this)(value));
    }
    return {{"arrayValue", {{"values", std::move(items)}}}};
  }
};

Json attributes_json(const Attributes& attributes) {
  Json out = Json::array();
  for (const Attribute& one : attributes) {
    out.push_back({{"key", one.key}, {"value", std::visit(ValueJson{}, one.value)}});
  }
  return out;
}

// Bits of Span.flags: the trace flags of W3C (sampled), and whether the parent is remote.
std::uint32_t span_flags(const Span& span) {
  constexpr std::uint32_t kSampled = 0x1;
  constexpr std::uint32_t kHasIsRemote = 0x100;
  constexpr std::uint32_t kIsRemote = 0x200;
  return kSampled | kHasIsRemote | (span.parent_is_remote ? kIsRemote : 0);
}

Json span_json(const Span& span) {
  Json out = {{"traceId", hex(span.trace_id)}, {"spanId", hex(span.span_id)}};
  if (span.parent_id) {
    out["parentSpanId"] = hex(*span.parent_id);
  }
  out["flags"] = span_flags(span);
  out["name"] = span.name;
  out["kind"] = static_cast<int>(span.kind);
  out["startTimeUnixNano"] = text(span.start_ns);
  out["endTimeUnixNano"] = text(span.end_ns);
  out["attributes"] = attributes_json(span.attributes);
  if (span.status != SpanStatus::kUnset) {
    out["status"] = {{"code", static_cast<int>(span.status)}};
  }
  return out;
}

Json point_json(const HistogramPoint& point) {
  Json counts = Json::array();
  std::uint64_t total = 0;
  for (const std::uint64_t count : point.counts) {
    counts.push_back(text(count));
    total += count;
  }
  return {{"attributes", attributes_json(point.attributes)},
          {"startTimeUnixNano", text(point.start_ns)},
          {"timeUnixNano", text(point.time_ns)},
          {"count", text(total)},
          {"sum", number(point.sum)},
          {"bucketCounts", std::move(counts)},
          {"explicitBounds", point.bounds}};
}

Json metric_json(const Metric& metric) {
  constexpr int kCumulative = 2;
  Json points = Json::array();
  for (const HistogramPoint& point : metric.points) {
    points.push_back(point_json(point));
  }
  return {
      {"name", metric.name},
      {"description", metric.description},
      {"unit", metric.unit},
      {"histogram", {{"aggregationTemporality", kCumulative}, {"dataPoints", std::move(points)}}}};
}

// The frame around the items, whose three names differ between signals.
std::string framed(const Source& source, const char* resources, const char* scopes,
                   const char* items, Json content) {
  Json scope = {{"scope", {{"name", source.scope}, {"version", source.version}}},
                {items, std::move(content)}};
  Json resource = {{"resource", {{"attributes", attributes_json(source.resource)}}},
                   {scopes, Json::array({std::move(scope)})}};
  const Json out = {{resources, Json::array({std::move(resource)})}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::uint64_t count_of(const Json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  std::uint64_t out = 0;
  if (value.is_string()) {
    const auto& digits = value.get_ref<const std::string&>();
    std::from_chars(digits.data(), digits.data() + digits.size(), out);
  }
  return out;
}

}  // namespace

std::string export_spans_json(const Source& source, std::span<const Span> spans) {
  Json items = Json::array();
  for (const Span& span : spans) {
    items.push_back(span_json(span));
  }
  return framed(source, "resourceSpans", "scopeSpans", "spans", std::move(items));
}

std::string export_metrics_json(const Source& source, std::span<const Metric> metrics) {
  Json items = Json::array();
  for (const Metric& metric : metrics) {
    items.push_back(metric_json(metric));
  }
  return framed(source, "resourceMetrics", "scopeMetrics", "metrics", std::move(items));
}

std::uint64_t rejected_items(std::string_view body) {
  const Json reply = Json::parse(body, nullptr, false);
  if (!reply.is_object() || !reply.contains("partialSuccess") ||
      !reply["partialSuccess"].is_object()) {
    return 0;
  }
  std::uint64_t rejected = 0;
  for (const char* name : {"rejectedSpans", "rejectedDataPoints"}) {
    if (reply["partialSuccess"].contains(name)) {
      rejected += count_of(reply["partialSuccess"][name]);
    }
  }
  return rejected;
}

}  // namespace daybreak::telemetry
