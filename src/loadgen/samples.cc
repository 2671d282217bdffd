// SPDX-License-Identifier: Apache-2.0
#include "loadgen/samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace daybreak::loadgen {
namespace {

// numpy's "linear": the value at place q (n - 1), between neighbours in proportion.
double percentile(std::size_t count, double share, const std::function<double(std::size_t)>& at) {
  const double place = share * static_cast<double>(count - 1);
  const auto below = static_cast<std::size_t>(place);
  const double low = at(below);
  const double high = at(std::min(below + 1, count - 1));
  return low + (high - low) * (place - static_cast<double>(below));
}

}  // namespace

void Samples::add(double value) {
  ++count_;
  sum_ += value;
  const double distance = value - mean_;
  mean_ += distance / static_cast<double>(count_);
  square_ += distance * (value - mean_);
  max_ = std::max(max_, value);
  const auto kept = static_cast<float>(value);
  if (!buckets_.empty()) {
    return count_in_bucket(kept);
  }
  values_.push_back(kept);
  if (values_.size() > max_exact_) {
    buckets_.resize(std::size_t{1} << (32 - kDropped));
    for (const float each : values_) {
      count_in_bucket(each);
    }
    values_ = {};
  }
}

void Samples::count_in_bucket(float value) {
  ++buckets_[std::bit_cast<std::uint32_t>(value) >> kDropped];
}

double Samples::value_at(std::size_t index) const {
  std::size_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > index) {
      if (bucket == 0) {
        return 0;
      }
      constexpr std::uint32_t kHalf = 1U << (kDropped - 1);
      return std::bit_cast<float>((static_cast<std::uint32_t>(bucket) << kDropped) + kHalf);
    }
  }
  return max_;
}

Summary Samples::summary() const {
  Summary out{.count = count_, .exact = buckets_.empty()};
  if (count_ == 0) {
    return out;
  }
  std::vector<float> sorted = values_;
  std::ranges::sort(sorted);
  const std::function<double(std::size_t)> at = [&](std::size_t index) {
    return sorted.empty() ? value_at(index) : static_cast<double>(sorted[index]);
  };
  out.mean = mean_;
  out.std = std::sqrt(square_ / static_cast<double>(count_));
  out.p50 = percentile(count_, 0.50, at);
  out.p90 = percentile(count_, 0.90, at);
  out.p95 = percentile(count_, 0.95, at);
  out.p99 = percentile(count_, 0.99, at);
  out.max = max_;
  return out;
}

}  // namespace daybreak::loadgen
