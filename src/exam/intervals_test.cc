// SPDX-License-Identifier: Apache-2.0
#include "exam/intervals.h"

#include <gtest/gtest.h>

namespace daybreak::exam {
namespace {

// Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
TEST(Wilson, AgreesWithPublishedValues) {
  constexpr double kRounded = 0.00005;
  const struct {
    std::size_t right, asked;
    double low, high;
  } published[] = {{81, 263, 0.2553, 0.3662},
                   {15, 148, 0.0624, 0.1605},
                   {0, 20, 0.0000, 0.1611},
                   {1, 29, 0.0061, 0.1718}};
  for (const auto& p : published) {
    const Interval found = wilson(p.right, p.asked);
    EXPECT_NEAR(found.low, p.low, kRounded) << p.right;
    EXPECT_NEAR(found.high, p.high, kRounded) << p.right;
    const Interval mirrored = wilson(p.asked - p.right, p.asked);
    EXPECT_NEAR(mirrored.low, 1 - p.high, kRounded);
    EXPECT_NEAR(mirrored.high, 1 - p.low, kRounded);
  }
}

TEST(Wilson, EdgesAreExact) {
  EXPECT_EQ(wilson(0, 1).low, 0.0);
  EXPECT_EQ(wilson(7, 7).high, 1.0);
  EXPECT_EQ(wilson(0, 0).low, 0.0);
  EXPECT_EQ(wilson(0, 0).high, 1.0);
  EXPECT_GT(wilson(1, 20'000).low, 0.0);
}

// The first row is the example of Agresti and Min 2005: approval of a prime minister by the same
// 1,600 people twice. All rows computed with Python's fractions and decimal from the formula.
TEST(PairedChange, AgreesWithValuesComputedElsewhere) {
  const struct {
    std::size_t lost, gained, pairs;
    double low, high;
  } known[] = {{150, 86, 1600, -0.058682935726, -0.021217189118},
               {0, 0, 60, -0.031612322331, 0.031612322331},
               {3, 1, 80, -0.077575386652, 0.028794898847},
               {0, 12, 40, 0.141340886473, 0.430087684955}};
  for (const auto& k : known) {
    const Interval found = paired_change(k.lost, k.gained, k.pairs);
    EXPECT_NEAR(found.low, k.low, 1e-9) << k.pairs;
    EXPECT_NEAR(found.high, k.high, 1e-9) << k.pairs;
    const Interval turned = paired_change(k.gained, k.lost, k.pairs);
    EXPECT_NEAR(turned.low, -k.high, 1e-9);
    EXPECT_NEAR(turned.high, -k.low, 1e-9);
  }
}

TEST(PairedChange, NothingIsKnownWithoutPairs) {
  EXPECT_EQ(paired_change(0, 0, 0).low, -1.0);
  EXPECT_EQ(paired_change(0, 0, 0).high, 1.0);
  EXPECT_LE(paired_change(0, 1, 1).high, 1.0);
}

}  // namespace
}  // namespace daybreak::exam
