// SPDX-License-Identifier: Apache-2.0
#include "api/grammar_metrics.h"

namespace daybreak::api {
namespace {

double number(auto value) { return static_cast<double>(value); }

}  // namespace

void report_grammars(MetricsSink& sink, const grammar::GrammarServiceStats& stats,
                     const grammar::StringMasks::Stats& masks) {
  sink.gauge("daybreak_grammar_requests_waiting", "Requests waiting for a grammar",
             number(stats.waiting), {});
  sink.gauge("daybreak_grammar_cached", "Compiled grammars kept", number(stats.cached), {});
  sink.gauge("daybreak_grammar_cached_bytes", "Memory of compiled grammars kept",
             number(stats.cached_bytes), {});
  sink.counter("daybreak_grammar_cache_hits_total", "Requests whose grammar was kept",
               number(stats.hits), {});
  sink.counter("daybreak_grammar_cache_joins_total", "Requests that shared a compilation under way",
               number(stats.joins), {});
  sink.counter("daybreak_grammar_cache_misses_total", "Requests that started a compilation",
               number(stats.misses), {});
  sink.counter("daybreak_grammar_cache_evictions_total", "Grammars dropped for want of room",
               number(stats.evictions), {});
  sink.counter("daybreak_grammar_compile_failures_total", "Compilations refused with an error",
               number(stats.failures), {});
  sink.histogram("daybreak_grammar_compile_seconds", "Time of one compilation",
                 grammar::GrammarServiceStats::kBoundsSeconds, stats.compile_counts,
                 stats.compile_seconds, {});
  sink.counter("daybreak_grammar_mask_hits_total", "Shared masks found", number(masks.hits), {});
  sink.counter("daybreak_grammar_mask_misses_total", "Shared masks computed", number(masks.misses),
               {});
  sink.gauge("daybreak_grammar_mask_bytes", "Memory of shared masks", number(masks.bytes), {});
}

}  // namespace daybreak::api
