// SPDX-License-Identifier: Apache-2.0
#pragma once

// Distribution: mean and quantiles of many measured values.

#include <cstdint>
#include <vector>

namespace daybreak::cli {

struct Distribution {
  double mean = 0, p50 = 0, p75 = 0, p90 = 0, p99 = 0, max = 0;
};

// Returns the distribution of `values`, each divided by `unit`; zeros for none. A quantile q is the
// value below which a share q of all lies, at least.
[[nodiscard]] Distribution distribution_of(std::vector<std::uint64_t> values, double unit);

}  // namespace daybreak::cli
