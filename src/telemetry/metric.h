// SPDX-License-Identifier: Apache-2.0
#pragma once

// Metric: a histogram with one point for each set of attributes, counted since the process began
// (cumulative temporality): a point that is lost on the way loses nothing.

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/span.h"

namespace daybreak::telemetry {

struct HistogramPoint {
  Attributes attributes = {};
  std::uint64_t start_ns = 0;  // since 1970: when counting began
  std::uint64_t time_ns = 0;
  std::vector<double> bounds = {};    // upper ones, ascending
  std::vector<std::uint64_t> counts;  // one more than bounds
  double sum = 0.0;
};

struct Metric {
  std::string name;
  std::string description;
  std::string unit;  // UCUM, such as "s"
  std::vector<HistogramPoint> points;
};

}  // namespace daybreak::telemetry
