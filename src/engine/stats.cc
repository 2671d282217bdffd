// SPDX-License-Identifier: Apache-2.0
#include "engine/stats.h"

#include <algorithm>

namespace daybreak::engine {

void LatencyHistogram::observe(double seconds) {
  const auto bound = std::lower_bound(kBoundsSeconds.begin(), kBoundsSeconds.end(), seconds);
  ++counts[static_cast<std::size_t>(bound - kBoundsSeconds.begin())];
  ++total;
  sum_seconds += seconds;
}

}  // namespace daybreak::engine
