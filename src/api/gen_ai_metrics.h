// SPDX-License-Identifier: Apache-2.0
#pragma once

// GenAiMetrics: the metrics that OpenTelemetry's conventions for generative AI define for servers,
// with the buckets they advise.

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "api/request_facts.h"
#include "base/fixed_histogram.h"
#include "telemetry/metric.h"

namespace daybreak::api {

inline constexpr std::array kTokenUsageBounds = {
    1.0,     4.0,     16.0,     64.0,      256.0,     1024.0,     4096.0,
    16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0, 67108864.0};
inline constexpr std::array kDurationBounds = {0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                               1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
inline constexpr std::array kTimeToFirstBounds = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,
                                                  0.25,  0.5,   0.75, 1.0,  2.5,  5.0,  7.5,  10.0};
inline constexpr std::array kTimePerTokenBounds = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
                                                   0.3,  0.4,   0.5,  0.75,  1.0, 2.5};

// Sets of attributes of one metric; what comes with another one is counted under the attribute
// otel.metric.overflow.
inline constexpr std::size_t kMaxMetricPoints = 256;

// Thread-safe.
class GenAiMetrics {
 public:
  GenAiMetrics();

  void record(const RequestFacts& facts);
  [[nodiscard]] std::vector<telemetry::Metric> collect() const;

 private:
  template <const auto& kBounds>
  using Points = std::map<telemetry::Attributes, FixedHistogram<kBounds>>;

  void record_answer(const RequestFacts& facts, const telemetry::Attributes& common);

  const std::chrono::system_clock::time_point start_;
  mutable std::mutex mutex_;  // guards what follows
  Points<kTokenUsageBounds> token_usage_;
  Points<kDurationBounds> duration_;
  Points<kTimeToFirstBounds> time_to_first_token_;
  Points<kTimePerTokenBounds> time_per_output_token_;
};

// The attributes that metrics and spans share: operation, provider, models, error.
[[nodiscard]] telemetry::Attributes common_attributes(const RequestFacts& facts);

// Nanoseconds since 1970.
[[nodiscard]] std::uint64_t unix_ns(std::chrono::system_clock::time_point time);

}  // namespace daybreak::api
