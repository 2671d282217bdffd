// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <gtest/gtest.h>

#include <array>

namespace daybreak {
namespace {

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, CountersAreOnePerLabelSet) {
  Metrics metrics;
  metrics.counter("a_total", "things", {{"kind", "x"}}).add();
  metrics.counter("a_total", "things", {{"kind", "x"}}).add(2);
  metrics.counter("a_total", "things", {{"kind", "y"}}).add();
  const std::string text = metrics.text();
  EXPECT_TRUE(has(text, "# HELP a_total things")) << text;
  EXPECT_TRUE(has(text, "# TYPE a_total counter")) << text;
  EXPECT_TRUE(has(text, "a_total{kind=\"x\"} 3")) << text;
  EXPECT_TRUE(has(text, "a_total{kind=\"y\"} 1")) << text;
}

TEST(Metrics, HistogramBucketsAreCumulative) {
  Metrics metrics;
  Histogram histogram = metrics.histogram("h", "times", {1.0, 2.0});
  for (const double value : {0.5, 1.5, 1.5, 9.0}) {
    histogram.observe(value);
  }
  const std::string text = metrics.text();
  EXPECT_TRUE(has(text, "h_bucket{le=\"1\"} 1")) << text;
  EXPECT_TRUE(has(text, "h_bucket{le=\"2\"} 3")) << text;
  EXPECT_TRUE(has(text, "h_bucket{le=\"+Inf\"} 4")) << text;
  EXPECT_TRUE(has(text, "h_sum 12.5")) << text;
  EXPECT_TRUE(has(text, "h_count 4")) << text;
}

TEST(Metrics, CollectorsAreAskedOnEveryScrape) {
  Metrics metrics;
  int scrapes = 0;
  metrics.add_collector([&](MetricsSink& sink) {
    ++scrapes;
    sink.gauge("vllm:num_requests_running", "now", scrapes, {{"engine", "0"}});
    constexpr std::array<double, 1> kBounds = {0.5};
    constexpr std::array<std::uint64_t, 2> kCounts = {3, 4};
    sink.histogram("vllm:t", "times", kBounds, kCounts, 8.0, {});
  });
  EXPECT_TRUE(has(metrics.text(), "vllm:num_requests_running{engine=\"0\"} 1"));
  const std::string text = metrics.text();
  EXPECT_TRUE(has(text, "vllm:num_requests_running{engine=\"0\"} 2")) << text;
  EXPECT_TRUE(has(text, "vllm:t_bucket{le=\"0.5\"} 3")) << text;
  EXPECT_TRUE(has(text, "vllm:t_bucket{le=\"+Inf\"} 7")) << text;
  EXPECT_TRUE(has(text, "vllm:t_count 7")) << text;
}

TEST(Metrics, SeriesAreBounded) {
  Metrics metrics;
  for (std::size_t i = 0; i < kMaxSeriesPerMetric + 2; ++i) {
    metrics.counter("b_total", "things", {{"kind", std::to_string(i)}}).add();
  }
  const std::string text = metrics.text();
  const auto line = [](std::size_t i) { return "b_total{kind=\"" + std::to_string(i) + "\"} 1"; };
  EXPECT_TRUE(has(text, line(kMaxSeriesPerMetric - 1)));
  EXPECT_FALSE(has(text, line(kMaxSeriesPerMetric)));
  EXPECT_TRUE(has(text, "b_total{kind=\"overflow\"} 2")) << text;
}

TEST(Metrics, ProcessMetricsAreThereAndPlausible) {
  Metrics metrics;
  metrics.add_collector(collect_process_metrics);
  const std::string text = metrics.text();
  for (const char* name : {"process_cpu_seconds_total", "process_resident_memory_bytes",
                           "process_virtual_memory_bytes", "process_open_fds", "process_max_fds",
                           "process_threads", "process_start_time_seconds"}) {
    EXPECT_NE(text.find("\n" + std::string(name) + " "), std::string::npos) << name << "\n" << text;
  }
  const std::size_t at = text.find("\nprocess_start_time_seconds ");
  EXPECT_GT(std::stod(text.substr(at + 28)), 1.6e9);  // later than 2020
}

}  // namespace
}  // namespace daybreak
