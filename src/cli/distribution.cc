// SPDX-License-Identifier: Apache-2.0
#include "cli/distribution.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace daybreak::cli {

Distribution distribution_of(std::vector<std::uint64_t> values, double unit) {
  if (values.empty()) {
    return {};
  }
  std::ranges::sort(values);
  const auto at = [&](double share) {
    const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    return static_cast<double>(values[std::min(index, values.size() - 1)]) / unit;
  };
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.mean = sum / static_cast<double>(values.size()) / unit,
          .p50 = at(0.50),
          .p75 = at(0.75),
          .p90 = at(0.90),
          .p99 = at(0.99),
          .max = at(1)};
}

}  // namespace daybreak::cli
