// SPDX-License-Identifier: Apache-2.0
#pragma once

// Samples: percentiles of any number of values in bounded memory. Up to a bound they are exact;
// beyond it values are counted in buckets.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace daybreak::loadgen {

// All zero for no values. Percentiles interpolate linearly between values, as numpy's do.
struct Summary {
  std::size_t count = 0;
  double mean = 0, std = 0;  // of the population
  double p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
  bool exact = true;  // false: percentiles are within 1/2048 of the value
};

class Samples {
 public:
  static constexpr std::size_t kMaxExact = std::size_t{1} << 20U;

  // `max_exact`: values kept as they are.
  explicit Samples(std::size_t max_exact = kMaxExact) : max_exact_(max_exact) {}

  // REQUIRES: value >= 0, finite.
  void add(double value);
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] Summary summary() const;

 private:
  // The upper bits of a float: its exponent and 10 bits behind the point.
  static constexpr unsigned kDropped = 13;
  void count_in_bucket(float value);
  // The value at a place of the sorted ones, all in buckets.
  [[nodiscard]] double value_at(std::size_t index) const;

  std::size_t max_exact_;
  std::vector<float> values_;           // as long as they are exact
  std::vector<std::uint64_t> buckets_;  // from then on
  std::size_t count_ = 0;
  double sum_ = 0;
  double mean_ = 0;    // Welford's recurrence
  double square_ = 0;  // sum of squared distances from the mean
  double max_ = 0;
};

}  // namespace daybreak::loadgen
