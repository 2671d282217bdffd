// SPDX-License-Identifier: Apache-2.0
#include "api/gen_ai_spans.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "api/gen_ai_metrics.h"
#include "api/random.h"
#include "http/trace_context.h"

namespace daybreak::api {
namespace {

using telemetry::Attributes;
using telemetry::Span;
using TimePoint = std::chrono::steady_clock::time_point;

std::int64_t whole(auto value) { return static_cast<std::int64_t>(value); }

template <std::size_t kBytes>
std::array<std::uint8_t, kBytes> from_hex(std::string_view digits) {
  std::array<std::uint8_t, kBytes> out{};
  for (std::size_t i = 0; i < kBytes; ++i) {
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, out[i], 16);
  }
  return out;
}

template <std::size_t kBytes>
std::array<std::uint8_t, kBytes> random_id() {
  std::array<std::uint8_t, kBytes> out{};
  while (std::ranges::all_of(out, [](std::uint8_t byte) { return byte == 0; })) {
    for (std::size_t i = 0; i < kBytes; i += 8) {
      std::uint64_t bits = random_bits();
      for (std::size_t j = i; j < i + 8; ++j, bits >>= 8U) {
        out[j] = static_cast<std::uint8_t>(bits);
      }
    }
  }
  return out;
}

// Instants of the monotonic clock as those of the calendar, by the one moment known on both.
std::uint64_t unix_ns(const RequestFacts& facts, TimePoint time) {
  using std::chrono::system_clock;
  return api::unix_ns(facts.began_utc +
                      std::chrono::duration_cast<system_clock::duration>(time - facts.began));
}

void add_asked(const AskedFor& asked, Attributes& out) {
  out.push_back({"gen_ai.request.stream", asked.stream});
  out.push_back({"gen_ai.request.max_tokens", whole(asked.max_tokens)});
  out.push_back({"gen_ai.request.temperature", asked.temperature});
  out.push_back({"gen_ai.request.top_p", asked.top_p});
  out.push_back({"gen_ai.request.presence_penalty", asked.presence_penalty});
  out.push_back({"gen_ai.request.frequency_penalty", asked.frequency_penalty});
  out.push_back({"gen_ai.output.type", asked.json ? "json" : "text"});
  if (asked.choices != 1) {
    out.push_back({"gen_ai.request.choice.count", whole(asked.choices)});
  }
  if (asked.top_k > 0) {
    out.push_back({"gen_ai.request.top_k", whole(asked.top_k)});
  }
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (asked.seed && *asked.seed <= kLargest) {  // the attribute has no room for others
    out.push_back({"gen_ai.request.seed", whole(*asked.seed)});
  }
}

void add_answered(const RequestFacts& facts, const Answered& answer, Attributes& out) {
  out.push_back({"gen_ai.response.id", answer.response_id});
  if (!answer.finish_reasons.empty()) {
    out.push_back({"gen_ai.response.finish_reasons", answer.finish_reasons});
  }
  if (answer.first_token) {
    out.push_back({"gen_ai.response.time_to_first_chunk",
                   std::chrono::duration<double>(*answer.first_token - facts.began).count()});
  }
  out.push_back({"gen_ai.usage.input_tokens", whole(answer.usage.prompt_tokens)});
  out.push_back({"gen_ai.usage.output_tokens", whole(answer.usage.completion_tokens)});
  out.push_back({"gen_ai.usage.cache_read.input_tokens", whole(answer.usage.cached_tokens)});
  out.push_back({"gen_ai.usage.reasoning.output_tokens", whole(answer.usage.reasoning_tokens)});
  if (!answer.engine_ids.empty()) {
    out.push_back({"daybreak.engine.request_id", whole(answer.engine_ids.front())});
  }
}

Span server_span(const RequestFacts& facts, const telemetry::TraceId& trace_id,
                 const std::optional<telemetry::SpanContext>& parent) {
  Span span{.trace_id = trace_id,
            .span_id = random_span_id(),
            .parent_id = {},
            .parent_is_remote = parent.has_value(),
            .name = std::string(facts.operation),
            .kind = telemetry::SpanKind::kServer,
            .start_ns = unix_ns(facts, facts.began),
            .end_ns = unix_ns(facts, facts.ended),
            .attributes = common_attributes(facts)};
  if (parent) {
    span.parent_id = parent->span_id;
  }
  if (!facts.asked_model.empty()) {
    span.name += " " + facts.asked_model;
  }
  span.attributes.push_back({"url.path", facts.path});
  span.attributes.push_back({"daybreak.request_id", facts.request_id});
  if (facts.asked) {
    add_asked(*facts.asked, span.attributes);
  }
  if (facts.answered) {
    add_answered(facts, *facts.answered, span.attributes);
  }
  // What a client did wrong, or its leaving, is not the server's failure.
  if (facts.error && http_status(*facts.error) >= 500) {
    span.status = telemetry::SpanStatus::kError;
  }
  return span;
}

void add_choice(const RequestFacts& facts, const Span& server, std::size_t choice,
                std::vector<Span>& out) {
  const engine::RequestTimes& times = facts.answered->times[choice];
  const auto add = [&](const char* name, TimePoint begin, TimePoint end) {
    Span span{.trace_id = server.trace_id,
              .span_id = random_span_id(),
              .parent_id = server.span_id,
              .name = name,
              .start_ns = unix_ns(facts, begin),
              .end_ns = unix_ns(facts, end)};
    if (facts.answered->times.size() > 1) {
      span.attributes.push_back({"daybreak.choice.index", whole(choice)});
    }
    out.push_back(std::move(span));
  };
  const TimePoint finished = times.finished.value_or(facts.ended);
  if (times.submitted == TimePoint()) {
    return;  // the engine has told nothing of it yet
  }
  add("queue", times.submitted, times.started.value_or(finished));
  if (times.started) {
    add("prefill", *times.started, times.first_token.value_or(finished));
  }
  if (times.first_token) {
    add("decode", *times.first_token, finished);
  }
}

}  // namespace

std::optional<telemetry::SpanContext> span_context(std::string_view traceparent) {
  const auto parsed = http::parse_traceparent(traceparent);
  if (!parsed) {
    return std::nullopt;
  }
  return telemetry::SpanContext{.trace_id = from_hex<16>(parsed->trace_id),
                                .span_id = from_hex<8>(parsed->parent_id),
                                .sampled = parsed->sampled};
}

telemetry::TraceId random_trace_id() { return random_id<16>(); }
telemetry::SpanId random_span_id() { return random_id<8>(); }

std::vector<Span> request_spans(const RequestFacts& facts, const telemetry::TraceId& trace_id,
                                const std::optional<telemetry::SpanContext>& parent) {
  std::vector<Span> out = {server_span(facts, trace_id, parent)};
  if (facts.answered) {
    const std::size_t traced = std::min(facts.answered->times.size(), kMaxTracedChoices);
    for (std::size_t choice = 0; choice < traced; ++choice) {
      add_choice(facts, Span(out.front()), choice, out);
    }
  }
  return out;
}

}  // namespace daybreak::api
