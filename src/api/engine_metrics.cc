// SPDX-License-Identifier: Apache-2.0
#include "api/engine_metrics.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <initializer_list>
#include <utility>

namespace daybreak::api {
namespace {

double number(auto value) { return static_cast<double>(value); }

// Puts values under one or more spellings of their name: the one that vLLM has now first, then
// those that older dashboards ask for.
class Report {
 public:
  using Names = std::initializer_list<const char*>;

  Report(MetricsSink& sink, MetricLabels labels) : sink_(sink), labels_(std::move(labels)) {}

  void gauge(Names names, const char* help, double value) const {
    for (const char* name : names) {
      sink_.gauge(name, help, value, labels_);
    }
  }
  void counter(Names names, const char* help, double value) const {
    for (const char* name : names) {
      sink_.counter(name, help, value, labels_);
    }
  }
  template <const auto& kBounds>
  void histogram(Names names, const char* help, const FixedHistogram<kBounds>& histogram) const {
    for (const char* name : names) {
      sink_.histogram(name, help, kBounds, histogram.counts, histogram.sum, labels_);
    }
  }
  [[nodiscard]] Report with(const MetricLabels& more) const {
    MetricLabels labels = labels_;
    labels.insert(more.begin(), more.end());
    return {sink_, std::move(labels)};
  }

 private:
  MetricsSink& sink_;
  MetricLabels labels_;
};

void report_load(const Report& report, const engine::Stats& stats) {
  report.gauge({"vllm:num_requests_running"}, "Requests being answered", number(stats.running));
  report.gauge({"vllm:num_requests_waiting"}, "Requests in the queue", number(stats.queued));
  const double used = stats.positions_total == 0
                          ? 0.0
                          : number(stats.positions_reserved) / number(stats.positions_total);
  report.gauge({"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
               "Share of state positions reserved, 0 to 1; kept sequences, which go when they are "
               "in the way, do not count",
               used);
  report.gauge({"daybreak_engine_slots"}, "Requests that can be answered at once",
               number(stats.slots));
  report.gauge({"daybreak_engine_kept_sequences"},
               "Sequences kept for requests that go on from them", number(stats.kept_sequences));
  report.gauge({"daybreak_engine_kept_positions"},
               "State positions they hold until others need them", number(stats.kept_positions));
  report.gauge({"daybreak_engine_cached_blocks"}, "Blocks of 64 tokens in the prefix cache",
               number(stats.cached_blocks));
  report.gauge({"daybreak_engine_checkpoints"},
               "Copies of states in the prefix cache that requests can start from",
               number(stats.checkpoints));
  report.gauge({"daybreak_engine_draining"}, "1 while shutting down", stats.draining ? 1 : 0);
  if (stats.block_positions > 0) {
    report
        .with(
            {{"block_size", fmt::format("{}", stats.block_positions)},
             {"num_gpu_blocks", fmt::format("{}", stats.positions_total / stats.block_positions)}})
        .gauge({"vllm:cache_config_info"}, "Always 1; positions of a block, blocks in memory", 1);
  }
}

// Also without speculation, so that a panel shows zeros and not a hole.
void report_speculation(const Report& report, const engine::Stats& stats) {
  report.counter({"vllm:spec_decode_num_drafts_total"}, "Steps of requests with guessed tokens",
                 number(stats.drafts));
  report.counter({"vllm:spec_decode_num_draft_tokens_total"}, "Tokens guessed",
                 number(stats.draft_tokens));
  report.counter({"vllm:spec_decode_num_accepted_tokens_total"}, "Of these, tokens that were right",
                 number(stats.accepted_tokens));
  for (std::size_t at = 0; at < stats.draft_tokens_at_most; ++at) {
    report.with({{"position", fmt::format("{}", at)}})
        .counter({"vllm:spec_decode_num_accepted_tokens_per_pos_total"},
                 "Right tokens by their place among those guessed together",
                 number(stats.accepted_at[at]));
  }
}

void report_totals(const Report& report, const engine::Stats& stats) {
  report.counter({"vllm:prompt_tokens_total"}, "Prompt tokens, computed or from a kept sequence",
                 number(stats.prefill_tokens + stats.prefix_hits));
  report.counter({"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"},
                 "Prompt tokens of requests that could go on from a kept sequence",
                 number(stats.prefix_queries));
  report.counter({"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"},
                 "Of these, tokens not computed again", number(stats.prefix_hits));
  report.counter({"vllm:prompt_tokens_cached_total"}, "Prompt tokens from a kept sequence",
                 number(stats.prefix_hits));
  report.counter({"daybreak_engine_evicted_blocks_total"},
                 "Blocks that left the prefix cache for others", number(stats.evicted_blocks));
  report.counter({"daybreak_engine_evicted_checkpoints_total"},
                 "Checkpoints that left the prefix cache for others",
                 number(stats.evicted_checkpoints));
  report.counter({"vllm:generation_tokens_total"}, "Tokens generated",
                 number(stats.generated_tokens));
  for (const auto& [reason, count] : {std::pair{"stop", stats.finished_stop},
                                      {"length", stats.finished_length},
                                      {"abort", stats.finished_cancelled},
                                      {"error", stats.finished_error}}) {
    report.with({{"finished_reason", reason}})
        .counter({"vllm:request_success_total"}, "Requests ended, by reason", number(count));
  }
  report.counter({"vllm:num_preemptions_total"},
                 "Running requests that had to wait again, for memory that others needed",
                 number(stats.preemptions));
  report.counter({"daybreak_engine_requests_submitted_total"}, "Requests accepted by the engine",
                 number(stats.submitted));
  report.counter({"daybreak_engine_requests_rejected_total"}, "Requests refused by the engine",
                 number(stats.rejected));
  report.counter({"daybreak_engine_requests_displaced_total"},
                 "Waiting requests that lost their place in a full queue to a higher priority",
                 number(stats.displaced));
  report.counter({"daybreak_engine_steps_total"}, "Steps of the model", number(stats.steps));
  report.counter({"daybreak_engine_decode_positions_total"}, "Generated positions computed",
                 number(stats.decode_tokens));
  report_speculation(report, stats);
  report.counter({"daybreak_engine_nonfinite_rows_total"}, "Rows of logits refused as not finite",
                 number(stats.nonfinite_rows));
  report.counter({"daybreak_engine_broken_constraints_total"},
                 "Answers ended by a failure of their constraint",
                 number(stats.broken_constraints));
  report.counter({"daybreak_engine_mask_waits_total"},
                 "Steps that answers sat out, waiting for what they may say next",
                 number(stats.mask_waits));
}

// Also without a disk, as above.
void report_disk(const Report& report, const engine::Stats& stats) {
  const cache::DiskStats disk = stats.disk.value_or(cache::DiskStats{});
  report.gauge({"daybreak_cache_disk_bytes"}, "Bytes of the prefix cache's files on disk",
               number(disk.bytes));
  report.gauge({"daybreak_cache_disk_max_bytes"}, "The most they may be; 0: no disk is used",
               number(disk.max_bytes));
  report.gauge({"daybreak_cache_disk_blocks"}, "Blocks of 64 tokens on disk", number(disk.blocks));
  report.gauge({"daybreak_cache_disk_checkpoints"}, "Copies of states on disk",
               number(disk.checkpoints));
  report.gauge({"daybreak_cache_disk_queued"}, "Checkpoints that wait to be written",
               number(disk.queued));
  report.counter({"daybreak_cache_disk_stored_blocks_total"}, "Blocks written to disk",
                 number(disk.stored_blocks));
  report.counter({"daybreak_cache_disk_stored_checkpoints_total"}, "Checkpoints written to disk",
                 number(disk.stored_checkpoints));
  report.counter({"daybreak_cache_disk_stored_bytes_total"}, "Bytes written to disk",
                 number(disk.stored_bytes));
  constexpr std::array<const char*, cache::kDrops> kReasons = {"queue_full", "gone", "no_room",
                                                               "failed"};
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    report.with({{"reason", kReasons[i]}})
        .counter({"daybreak_cache_disk_dropped_total"},
                 "Checkpoints that were to be written and were not, by reason",
                 number(disk.dropped[i]));
  }
  report.counter({"daybreak_cache_disk_evicted_blocks_total"},
                 "Blocks that left the disk for others", number(disk.evicted_blocks));
  report.counter({"daybreak_cache_disk_evicted_checkpoints_total"},
                 "Checkpoints that left the disk for others", number(disk.evicted_checkpoints));
  report.counter({"daybreak_cache_disk_loads_total"}, "Beginnings read from disk",
                 number(disk.loads));
  report.counter({"daybreak_cache_disk_loaded_bytes_total"}, "Bytes of them",
                 number(disk.loaded_bytes));
  report.counter({"daybreak_cache_disk_failed_loads_total"},
                 "Beginnings that could not be read, or were not wanted any more",
                 number(disk.failed_loads));
  report.counter({"daybreak_cache_disk_damaged_total"}, "Files found damaged, missing or foreign",
                 number(disk.damaged));
  report.histogram({"daybreak_cache_disk_load_seconds"}, "Reading one beginning, without waiting",
                   stats.disk_load_time);
}

void report_times(const Report& report, const engine::Stats& stats) {
  report.histogram({"vllm:time_to_first_token_seconds"}, "From submission to the first token",
                   stats.time_to_first_token);
  report.histogram({"vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"},
                   "From one token to the next", stats.time_per_output_token);
  report.histogram({"vllm:request_time_per_output_token_seconds"},
                   "Mean time from one token to the next of an answered request",
                   stats.request_time_per_output_token);
  report.histogram({"vllm:e2e_request_latency_seconds"}, "From submission to the end",
                   stats.request_time);
  report.histogram({"vllm:request_queue_time_seconds"}, "From submission to the start",
                   stats.queue_time);
  report.histogram({"vllm:request_prefill_time_seconds"}, "From the start to the first token",
                   stats.prefill_time);
  report.histogram({"vllm:request_decode_time_seconds"}, "From the first token to the end",
                   stats.decode_time);
  report.histogram({"vllm:request_inference_time_seconds"}, "From the start to the end",
                   stats.inference_time);
  report.histogram({"daybreak_engine_mask_seconds"}, "What may come next, for one token",
                   stats.mask_time);
}

void report_block_times(const Report& report, const cache::BlockTimes& times) {
  report.histogram({"vllm:kv_block_lifetime_seconds"},
                   "From the publication of a block in the prefix cache to its eviction",
                   times.lifetime);
  report.histogram({"vllm:kv_block_idle_before_evict_seconds"},
                   "From the last use of a block of the prefix cache to its eviction",
                   times.idle_before_eviction);
  report.histogram({"vllm:kv_block_reuse_gap_seconds"},
                   "From one use of a block of the prefix cache to the next", times.reuse_gap);
}

void report_sizes(const Report& report, const engine::Stats& stats) {
  report.histogram({"vllm:request_prompt_tokens"}, "Prompt tokens of an answered request",
                   stats.request_prompt_tokens);
  report.histogram({"vllm:request_prefill_kv_computed_tokens"},
                   "Computed prompt tokens of an answered request",
                   stats.request_computed_prompt_tokens);
  report.histogram({"vllm:request_generation_tokens"}, "Generated tokens of an answered request",
                   stats.request_generated_tokens);
  report.histogram({"vllm:iteration_tokens_total"}, "Tokens fed in one step of the model",
                   stats.step_tokens);
}

}  // namespace

void report_engine(MetricsSink& sink, const engine::Stats& stats, const std::string& model_name) {
  const Report report(sink, {{"model_name", model_name}, {"engine", "0"}});
  report_load(report, stats);
  report_totals(report, stats);
  report_disk(report, stats);
  report_times(report, stats);
  report_block_times(report, stats.block_times);
  report_sizes(report, stats);
}

void report_adapters(MetricsSink& sink, const engine::Stats& stats, std::size_t most) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  sink.gauge("vllm:lora_requests_info",
             "Time of this line, seconds since 1970; adapters that requests run and wait with",
             std::chrono::duration<double>(now).count(),
             {{"max_lora", fmt::format("{}", most)},
              {"running_lora_adapters", fmt::format("{}", fmt::join(stats.running_adapters, ","))},
              {"waiting_lora_adapters", fmt::format("{}", fmt::join(stats.queued_adapters, ","))}});
}

}  // namespace daybreak::api
