// SPDX-License-Identifier: Apache-2.0
#pragma once

// Span: one stretch of work of a distributed trace, as OpenTelemetry defines it. Plain values; how
// they are written is otlp_json.h's affair.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace daybreak::telemetry {

using AttributeValue =
    std::variant<std::string, bool, std::int64_t, double, std::vector<std::string>>;

// A fact about a span, a point of a metric or a process. Keys come from a fixed set.
struct Attribute {
  std::string key;
  AttributeValue value;

  friend bool operator==(const Attribute&, const Attribute&) = default;
  friend bool operator<(const Attribute& a, const Attribute& b) {
    return std::tie(a.key, a.value) < std::tie(b.key, b.value);
  }
};
using Attributes = std::vector<Attribute>;

// Never all zero.
using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

// What a span continues.
struct SpanContext {
  TraceId trace_id{};
  SpanId span_id{};
  bool sampled = false;
};

enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2 };  // numbers of the protocol
enum class SpanStatus : std::uint8_t { kUnset = 0, kOk = 1, kError = 2 };  // likewise

struct Span {
  TraceId trace_id{};
  SpanId span_id{};
  std::optional<SpanId> parent_id = {};
  bool parent_is_remote = false;  // it came over the wire
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  std::uint64_t start_ns = 0;  // since 1970
  std::uint64_t end_ns = 0;
  Attributes attributes = {};
  SpanStatus status = SpanStatus::kUnset;
};

}  // namespace daybreak::telemetry
