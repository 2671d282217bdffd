// SPDX-License-Identifier: Apache-2.0
#pragma once

// Metrics: counters, gauges and histograms of this process in the Prometheus text format. Values
// that are counted here are changed through handles; values that live elsewhere (an engine's
// statistics, /proc) are asked for by collectors on every scrape.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace daybreak {

using MetricLabels = std::map<std::string, std::string>;

// Different label sets of one metric; one more is counted under the value "overflow" of every
// label, so that a label made from input cannot grow memory.
inline constexpr std::size_t kMaxSeriesPerMetric = 256;

// Handles stay valid as long as their Metrics, and are thread-safe and lock-free.
class Counter {
 public:
  explicit Counter(void* counter) : counter_(counter) {}
  void add(double amount = 1.0);  // REQUIRES: amount >= 0

 private:
  void* counter_;
};

class Histogram {
 public:
  explicit Histogram(void* histogram) : histogram_(histogram) {}
  void observe(double value);

 private:
  void* histogram_;
};

// Where a collector puts what it has read. Histogram counts are per bucket, one more than bounds.
class MetricsSink {
 public:
  virtual ~MetricsSink() = default;
  virtual void counter(const std::string& name, const std::string& help, double value,
                       const MetricLabels& labels) = 0;
  virtual void gauge(const std::string& name, const std::string& help, double value,
                     const MetricLabels& labels) = 0;
  virtual void histogram(const std::string& name, const std::string& help,
                         std::span<const double> bounds, std::span<const std::uint64_t> counts,
                         double sum, const MetricLabels& labels) = 0;
};

class Metrics {
 public:
  using Collector = std::function<void(MetricsSink&)>;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Returns the handle of one series, made on first use. Thread-safe.
  // REQUIRES: `name` and the label names are valid in Prometheus; one kind per name; the same
  // bounds, ascending, for every series of a histogram.
  Counter counter(const std::string& name, const std::string& help,
                  const MetricLabels& labels = {});
  Histogram histogram(const std::string& name, const std::string& help,
                      const std::vector<double>& bounds, const MetricLabels& labels = {});

  // Adds a collector, called on the thread of each text(). REQUIRES: before the first text().
  void add_collector(Collector collector);

  // Returns everything in text format 0.0.4. Thread-safe.
  [[nodiscard]] std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Reports CPU time, memory, threads and file descriptors of this process, under the names that
// Prometheus client libraries have agreed on. Reads /proc/self; what cannot be read is left out.
void collect_process_metrics(MetricsSink& sink);

}  // namespace daybreak
