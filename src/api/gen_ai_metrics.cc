// SPDX-License-Identifier: Apache-2.0
#include "api/gen_ai_metrics.h"

#include <algorithm>
#include <utility>

namespace daybreak::api {
namespace {

using telemetry::Attributes;

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// Returns the histogram of those attributes, or that of all for which there is no room.
template <class Points>
auto& point_of(Points& points, const Attributes& attributes) {
  if (points.size() < kMaxMetricPoints || points.contains(attributes)) {
    return points[attributes];
  }
  return points[{{"otel.metric.overflow", true}}];
}

template <class Points>
telemetry::Metric metric_of(const Points& points, const char* name, const char* description,
                            const char* unit, std::uint64_t start_ns, std::uint64_t now_ns) {
  telemetry::Metric metric{.name = name, .description = description, .unit = unit, .points = {}};
  for (const auto& [attributes, histogram] : points) {
    metric.points.push_back({.attributes = attributes,
                             .start_ns = start_ns,
                             .time_ns = now_ns,
                             .bounds{histogram.kBounds.begin(), histogram.kBounds.end()},
                             .counts{histogram.counts.begin(), histogram.counts.end()},
                             .sum = histogram.sum});
  }
  return metric;
}

// From the first token to the last of the choice that took longest, as the engine saw it: choices
// are made side by side, and a client may take its time to read.
double decode_seconds(const RequestFacts& facts) {
  std::chrono::steady_clock::duration longest{};
  for (const engine::RequestTimes& times : facts.answered->times) {
    if (times.first_token) {
      longest = std::max(longest, times.finished.value_or(facts.ended) - *times.first_token);
    }
  }
  return seconds(longest);
}

Attributes with_token_type(Attributes attributes, const char* type) {
  attributes.push_back({"gen_ai.token.type", type});
  return attributes;
}

}  // namespace

GenAiMetrics::GenAiMetrics() : start_(std::chrono::system_clock::now()) {}

void GenAiMetrics::record(const RequestFacts& facts) {
  const Attributes common = common_attributes(facts);
  const std::lock_guard lock(mutex_);
  point_of(duration_, common).observe(seconds(facts.ended - facts.began));
  if (facts.answered) {
    record_answer(facts, common);
  }
}

void GenAiMetrics::record_answer(const RequestFacts& facts, const Attributes& common) {
  const Answered& answer = *facts.answered;
  const chat::TokenUsage& usage = answer.usage;
  // Cached tokens are part of the input and reasoning is part of the output: as types of their own
  // they would be counted twice by whoever adds the types up.
  point_of(token_usage_, with_token_type(common, "input"))
      .observe(static_cast<double>(usage.prompt_tokens));
  point_of(token_usage_, with_token_type(common, "output"))
      .observe(static_cast<double>(usage.completion_tokens));
  if (!answer.first_token) {
    return;
  }
  point_of(time_to_first_token_, common).observe(seconds(*answer.first_token - facts.began));
  if (!facts.error && answer.longest_choice > 1) {
    point_of(time_per_output_token_, common)
        .observe(decode_seconds(facts) / static_cast<double>(answer.longest_choice - 1));
  }
}

std::vector<telemetry::Metric> GenAiMetrics::collect() const {
  const std::uint64_t start = unix_ns(start_);
  const std::uint64_t now = unix_ns(std::chrono::system_clock::now());
  const std::lock_guard lock(mutex_);
  std::vector<telemetry::Metric> out;
  out.push_back(metric_of(token_usage_, "gen_ai.client.token.usage", "Tokens of a request, by type",
                          "{token}", start, now));
  out.push_back(metric_of(duration_, "gen_ai.server.request.duration",
                          "From the request's arrival to the end of its answer", "s", start, now));
  out.push_back(metric_of(time_to_first_token_, "gen_ai.server.time_to_first_token",
                          "From the request's arrival to the first token", "s", start, now));
  out.push_back(metric_of(time_per_output_token_, "gen_ai.server.time_per_output_token",
                          "Mean time of each token after the first", "s", start, now));
  std::erase_if(out, [](const telemetry::Metric& metric) { return metric.points.empty(); });
  return out;
}

Attributes common_attributes(const RequestFacts& facts) {
  Attributes out = {{"gen_ai.operation.name", std::string(facts.operation)},
                    {"gen_ai.provider.name", "daybreak"}};
  if (!facts.asked_model.empty()) {
    out.push_back({"gen_ai.request.model", facts.asked_model});
  }
  out.push_back({"gen_ai.response.model", facts.served_model});
  if (facts.error) {
    out.push_back({"error.type", std::string(to_string(*facts.error))});
  }
  return out;
}

std::uint64_t unix_ns(std::chrono::system_clock::time_point time) {
  using std::chrono::nanoseconds;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count());
}

}  // namespace daybreak::api
