// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request as spans: one of the server, named and described as OpenTelemetry's conventions for
// generative AI ask, and below it what each choice waited for and did: queue, prefill, decode.

#include <optional>
#include <string_view>
#include <vector>

#include "api/request_facts.h"
#include "telemetry/span.h"

namespace daybreak::api {

// Choices whose parts become spans; those of others would only repeat them.
inline constexpr std::size_t kMaxTracedChoices = 8;

// Returns the caller's span that a traceparent names; nothing if it is empty or malformed.
[[nodiscard]] std::optional<telemetry::SpanContext> span_context(std::string_view traceparent);

// Returns fresh random ids.
[[nodiscard]] telemetry::TraceId random_trace_id();
[[nodiscard]] telemetry::SpanId random_span_id();

// Returns the spans of `facts`, that of the server first. `parent`: unset if the trace begins here.
[[nodiscard]] std::vector<telemetry::Span> request_spans(
    const RequestFacts& facts, const telemetry::TraceId& trace_id,
    const std::optional<telemetry::SpanContext>& parent);

}  // namespace daybreak::api
