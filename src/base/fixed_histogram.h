// SPDX-License-Identifier: Apache-2.0
#pragma once

// FixedHistogram: how often values fell into buckets that are known at compile time. A plain value:
// whoever owns one locks it, copies it, hands it to a MetricsSink.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace daybreak {

// `kUpperBounds`: a constexpr std::array<double, N> of static storage, ascending.
template <const auto& kUpperBounds>
struct FixedHistogram {
  static constexpr const auto& kBounds = kUpperBounds;

  // counts[i]: values in (kBounds[i-1], kBounds[i]]; the last one: those above all bounds.
  std::array<std::uint64_t, kUpperBounds.size() + 1> counts{};
  std::uint64_t total = 0;
  double sum = 0.0;

  void observe(double value) {
    const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), value);
    ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
    ++total;
    sum += value;
  }
};

}  // namespace daybreak
