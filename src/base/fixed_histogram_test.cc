// SPDX-License-Identifier: Apache-2.0
#include "base/fixed_histogram.h"

#include <gtest/gtest.h>

namespace daybreak {
namespace {

constexpr std::array kBounds = {1.0, 2.0, 3600.0};

TEST(FixedHistogram, PutsAValueIntoTheBucketWhoseBoundItReaches) {
  FixedHistogram<kBounds> histogram;
  for (const double value : {-1.0, 1.0, 1.1, 3600.0, 3600.1}) {
    histogram.observe(value);
  }
  EXPECT_EQ(histogram.counts, (std::array<std::uint64_t, 4>{2, 1, 1, 1}));
  EXPECT_EQ(histogram.total, 5U);
  EXPECT_DOUBLE_EQ(histogram.sum, 7201.2);
}

}  // namespace
}  // namespace daybreak
