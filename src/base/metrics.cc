// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <mutex>
#include <set>
#include <utility>

namespace daybreak {
namespace {

// Gathers the answers of collectors, joining the series of one name into one family.
class FamilySink final : public MetricsSink {
 public:
  void counter(const std::string& name, const std::string& help, double value,
               const MetricLabels& labels) override {
    add(name, help, prometheus::MetricType::Counter, labels).counter.value = value;
  }
  void gauge(const std::string& name, const std::string& help, double value,
             const MetricLabels& labels) override {
    add(name, help, prometheus::MetricType::Gauge, labels).gauge.value = value;
  }
  void histogram(const std::string& name, const std::string& help, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum,
                 const MetricLabels& labels) override {
    prometheus::ClientMetric& metric = add(name, help, prometheus::MetricType::Histogram, labels);
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      cumulative += counts[i];
      const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({.cumulative_count = cumulative, .upper_bound = bound});
    }
    metric.histogram.sample_count = cumulative;
    metric.histogram.sample_sum = sum;
  }

  std::vector<prometheus::MetricFamily> families;

 private:
  prometheus::ClientMetric& add(const std::string& name, const std::string& help,
                                prometheus::MetricType type, const MetricLabels& labels) {
    if (families.empty() || families.back().name != name) {
      families.push_back({.name = name, .help = help, .type = type, .metric = {}});
    }
    prometheus::ClientMetric& metric = families.back().metric.emplace_back();
    for (const auto& [key, value] : labels) {
      metric.label.push_back({.name = key, .value = value});
    }
    return metric;
  }
};

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  mutable std::mutex mutex;  // guards the members below
  std::map<std::string, prometheus::Family<prometheus::Counter>*> counters;
  std::map<std::string, prometheus::Family<prometheus::Histogram>*> histograms;
  std::map<std::string, std::set<MetricLabels>> series;
  std::vector<Collector> collectors;

  // Returns the labels, or their overflow form once the metric has too many series.
  MetricLabels bounded(const std::string& name, MetricLabels labels) {
    std::set<MetricLabels>& known = series[name];
    if (known.contains(labels)) {
      return labels;
    }
    if (known.size() >= kMaxSeriesPerMetric) {
      for (auto& [key, value] : labels) {
        value = "overflow";
      }
      return labels;
    }
    known.insert(labels);
    return labels;
  }
};

void Counter::add(double amount) { static_cast<prometheus::Counter*>(counter_)->Increment(amount); }

void Histogram::observe(double value) {
  static_cast<prometheus::Histogram*>(histogram_)->Observe(value);
}

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(const std::string& name, const std::string& help,
                         const MetricLabels& labels) {
  const std::lock_guard lock(impl_->mutex);
  auto& family = impl_->counters[name];
  if (family == nullptr) {
    family = &prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  }
  return Counter(&family->Add(impl_->bounded(name, labels)));
}

Histogram Metrics::histogram(const std::string& name, const std::string& help,
                             const std::vector<double>& bounds, const MetricLabels& labels) {
  const std::lock_guard lock(impl_->mutex);
  auto& family = impl_->histograms[name];
  if (family == nullptr) {
    family = &prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  }
  return Histogram(&family->Add(impl_->bounded(name, labels), bounds));
}

void Metrics::add_collector(Collector collector) {
  const std::lock_guard lock(impl_->mutex);
  impl_->collectors.push_back(std::move(collector));
}

std::string Metrics::text() const {
  std::vector<Collector> collectors;
  {
    const std::lock_guard lock(impl_->mutex);
    collectors = impl_->collectors;
  }
  FamilySink sink;
  for (const Collector& collector : collectors) {
    collector(sink);
  }
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  families.insert(families.end(), std::make_move_iterator(sink.families.begin()),
                  std::make_move_iterator(sink.families.end()));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace daybreak
