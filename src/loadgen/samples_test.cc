// SPDX-License-Identifier: Apache-2.0
#include "loadgen/samples.h"

#include <gtest/gtest.h>

namespace daybreak::loadgen {
namespace {

TEST(Samples, OfNothingAreZero) {
  const Summary s = Samples().summary();
  EXPECT_EQ(s.count, 0U);
  EXPECT_EQ(s.mean, 0);
  EXPECT_EQ(s.p99, 0);
  EXPECT_TRUE(s.exact);
}

TEST(Samples, InterpolateBetweenNeighbours) {
  Samples samples;
  for (const double value : {4.0, 1.0, 3.0, 2.0}) {  // 1 2 3 4: place 1.5, and 2.7
    samples.add(value);
  }
  const Summary s = samples.summary();
  EXPECT_EQ(s.p50, 2.5);
  EXPECT_NEAR(s.p90, 3.7, 1e-15);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_NEAR(s.std * s.std, 1.25, 1e-15);
  EXPECT_EQ(s.max, 4);
  EXPECT_EQ(samples.sum(), 10);
}

TEST(Samples, AreExactUpToTheBoundAndCountedBeyond) {
  Samples samples(3);
  for (int i = 0; i < 3; ++i) {
    samples.add(0.1);
  }
  EXPECT_TRUE(samples.summary().exact);
  EXPECT_FLOAT_EQ(static_cast<float>(samples.summary().p50), 0.1F);
  samples.add(0.1);
  EXPECT_FALSE(samples.summary().exact);
  EXPECT_EQ(samples.summary().count, 4U);
  EXPECT_NEAR(samples.summary().p50, 0.1, 0.1 / 2048);
}

TEST(Samples, ZeroStaysZeroWhenCounted) {
  Samples samples(1);
  samples.add(0);
  samples.add(0);
  samples.add(0);
  EXPECT_EQ(samples.summary().p99, 0);
}

}  // namespace
}  // namespace daybreak::loadgen
