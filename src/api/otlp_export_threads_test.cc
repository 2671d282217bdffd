// SPDX-License-Identifier: Apache-2.0
// Many threads add spans while one exports, and it is stopped in the midst of it.

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "api/otlp_test_collector.h"

namespace daybreak::api {
namespace {

TEST(OtlpExportThreads, EverySpanIsAccountedFor) {
  TestCollector collector;
  Log log({.sink = [](std::string_view) {}});
  telemetry::ExporterOptions options = collector.options().exporter;
  options.schedule_delay = std::chrono::milliseconds(1);
  options.metric_interval = std::chrono::milliseconds(1);
  options.max_queue = 64;
  options.max_batch = 16;
  GenAiMetrics metrics;
  const auto exporter =
      *telemetry::Exporter::start(options, [&] { return metrics.collect(); }, log);
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kEach = 200;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        RequestFacts facts;
        facts.operation = "chat";
        for (std::uint64_t j = 0; j < kEach; ++j) {
          telemetry::Span span;
          span.trace_id = {1};
          span.span_id = {2};
          exporter->add({span});
          metrics.record(facts);
          static_cast<void>(exporter->stats());
        }
      });
    }
  }
  exporter->stop(std::chrono::milliseconds(60'000));
  const telemetry::ExporterStats stats = exporter->stats();
  EXPECT_EQ(stats.spans_exported + stats.spans_dropped_full, kThreads * kEach);
  EXPECT_EQ(collector.spans().size(), stats.spans_exported);
  EXPECT_EQ(collector.metrics()[0]["histogram"]["dataPoints"][0]["count"], "800");
  EXPECT_GT(stats.metrics_exported, 0U);
}

}  // namespace
}  // namespace daybreak::api
