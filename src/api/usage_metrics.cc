// SPDX-License-Identifier: Apache-2.0
#include "api/usage_metrics.h"

namespace daybreak::api {

void report_ledger(MetricsSink& sink, const access::Ledger::Stats& stats) {
  sink.counter("daybreak_usage_entries_recorded_total", "Entries written into the usage ledger",
               static_cast<double>(stats.recorded), {});
  sink.counter("daybreak_usage_write_failures_total",
               "Attempts to write entries that failed; they are tried again",
               static_cast<double>(stats.failed), {});
  sink.gauge("daybreak_usage_entries_queued", "Entries that wait to be written",
             static_cast<double>(stats.queued), {});
  sink.gauge("daybreak_usage_oldest_entry_seconds", "How long the first of them has waited",
             static_cast<double>(stats.oldest_wait.count()) / 1e6, {});
}

}  // namespace daybreak::api
