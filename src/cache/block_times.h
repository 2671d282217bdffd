// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long blocks stay in the prefix cache, and how often they are of use there: what says whether
// it is large enough.

#include <array>

#include "base/fixed_histogram.h"

namespace daybreak::cache {

// Upper bounds in seconds, those of vLLM, so that its dashboards fit, and up to a day: blocks stay
// for hours where memory suffices.
inline constexpr std::array kBlockTimeBounds = {
    0.001, 0.002, 0.005, 0.01, 0.02,  0.05,  0.1,   0.2,    0.5,    1.0,    2.0,     5.0,
    10.0,  20.0,  30.0,  60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 14400.0, 86400.0};

// A plain value. The first two: of blocks that were evicted because their memory was needed, so
// that each has as many values as there were evictions.
struct BlockTimes {
  FixedHistogram<kBlockTimeBounds> lifetime;              // publication -> eviction
  FixedHistogram<kBlockTimeBounds> idle_before_eviction;  // last use -> eviction
  FixedHistogram<kBlockTimeBounds> reuse_gap;  // one use -> next; publication is the first
};

}  // namespace daybreak::cache
