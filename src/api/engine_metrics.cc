// SPDX-License-Identifier: Apache-2.0
#include "api/engine_metrics.h"

#include <utility>

namespace daybreak::api {
namespace {

double number(auto value) { return static_cast<double>(value); }

void report_load(MetricsSink& sink, const engine::Stats& stats, const MetricLabels& labels) {
  sink.gauge("vllm:num_requests_running", "Requests being answered", number(stats.running), labels);
  sink.gauge("vllm:num_requests_waiting", "Requests in the queue", number(stats.queued), labels);
  const double used = stats.positions_total == 0
                          ? 0.0
                          : number(stats.positions_reserved) / number(stats.positions_total);
  sink.gauge("vllm:kv_cache_usage_perc",
             "Share of state positions reserved, 0 to 1; kept sequences, which go when they are in "
             "the way, do not count",
             used, labels);
  sink.gauge("daybreak_engine_slots", "Requests that can be answered at once", number(stats.slots),
             labels);
  sink.gauge("daybreak_engine_kept_sequences", "Sequences kept for requests that go on from them",
             number(stats.kept_sequences), labels);
  sink.gauge("daybreak_engine_kept_positions", "State positions they hold until others need them",
             number(stats.kept_positions), labels);
  sink.gauge("daybreak_engine_draining", "1 while shutting down", stats.draining ? 1 : 0, labels);
}

void report_totals(MetricsSink& sink, const engine::Stats& stats, const MetricLabels& labels) {
  sink.counter("vllm:prompt_tokens_total", "Prompt tokens computed", number(stats.prefill_tokens),
               labels);
  sink.counter("vllm:prefix_cache_queries_total",
               "Prompt tokens of requests that could go on from a kept sequence",
               number(stats.prefix_queries), labels);
  sink.counter("vllm:prefix_cache_hits_total", "Of these, tokens not computed again",
               number(stats.prefix_hits), labels);
  sink.counter("vllm:generation_tokens_total", "Tokens generated", number(stats.generated_tokens),
               labels);
  for (const auto& [reason, count] : {std::pair{"stop", stats.finished_stop},
                                      {"length", stats.finished_length},
                                      {"abort", stats.finished_cancelled},
                                      {"error", stats.finished_error}}) {
    MetricLabels with_reason = labels;
    with_reason["finished_reason"] = reason;
    sink.counter("vllm:request_success_total", "Requests ended, by reason", number(count),
                 with_reason);
  }
  sink.counter("daybreak_engine_requests_submitted_total", "Requests accepted by the engine",
               number(stats.submitted), labels);
  sink.counter("daybreak_engine_requests_rejected_total", "Requests refused by the engine",
               number(stats.rejected), labels);
  sink.counter("daybreak_engine_steps_total", "Steps of the model", number(stats.steps), labels);
  sink.counter("daybreak_engine_decode_positions_total", "Generated positions computed",
               number(stats.decode_tokens), labels);
  sink.counter("daybreak_engine_nonfinite_rows_total", "Rows of logits refused as not finite",
               number(stats.nonfinite_rows), labels);
  sink.counter("daybreak_engine_broken_constraints_total",
               "Answers ended by a failure of their constraint", number(stats.broken_constraints),
               labels);
  sink.counter("daybreak_engine_mask_waits_total",
               "Steps that answers sat out, waiting for what they may say next",
               number(stats.mask_waits), labels);
}

void report_latency(MetricsSink& sink, const char* name, const char* help,
                    const engine::LatencyHistogram& histogram, const MetricLabels& labels) {
  sink.histogram(name, help, engine::LatencyHistogram::kBoundsSeconds, histogram.counts,
                 histogram.sum_seconds, labels);
}

}  // namespace

void report_engine(MetricsSink& sink, const engine::Stats& stats, const std::string& model_name) {
  const MetricLabels labels = {{"model_name", model_name}, {"engine", "0"}};
  report_load(sink, stats, labels);
  report_totals(sink, stats, labels);
  report_latency(sink, "vllm:time_to_first_token_seconds", "From submission to the first token",
                 stats.time_to_first_token, labels);
  report_latency(sink, "vllm:inter_token_latency_seconds", "From one token to the next",
                 stats.time_per_output_token, labels);
  report_latency(sink, "vllm:e2e_request_latency_seconds", "From submission to the end",
                 stats.request_time, labels);
  report_latency(sink, "vllm:request_queue_time_seconds", "From submission to the start",
                 stats.queue_time, labels);
  report_latency(sink, "daybreak_engine_mask_seconds", "What may come next, for one token",
                 stats.mask_time, labels);
}

}  // namespace daybreak::api
