// SPDX-License-Identifier: Apache-2.0
#include "api/shared_bound.h"

#include <gtest/gtest.h>

#include <limits>

namespace daybreak::api {
namespace {

TEST(SharedBound, HoldsBothBoundsAndGivesBack) {
  SharedBound bound(10, 6);
  auto first = bound.take("a", 6);
  ASSERT_TRUE(first);
  EXPECT_FALSE(bound.take("a", 1)) << "an owner's bound";
  EXPECT_FALSE(bound.take("b", 5)) << "that of all";
  auto second = bound.take("b", 4);
  ASSERT_TRUE(second);
  EXPECT_FALSE(bound.take("c", 1));
  EXPECT_TRUE(bound.take("c", 0));
  first.reset();
  EXPECT_TRUE(bound.take("a", 6));
  EXPECT_TRUE(bound.take("c", 6));
}

TEST(SharedBound, AmountsThatNoBoundHolds) {
  SharedBound bound(10, 6);
  EXPECT_FALSE(bound.take("a", 7));
  EXPECT_FALSE(bound.take("a", std::numeric_limits<std::size_t>::max()));
  const auto held = bound.take("a", 3);
  EXPECT_FALSE(bound.take("a", std::numeric_limits<std::size_t>::max() - 1));
}

TEST(SharedBound, NobodyInParticularMayHoldAll) {
  SharedBound bound(10, 6);
  EXPECT_EQ(bound.max_of("a"), 6U);
  EXPECT_EQ(bound.max_of(""), 10U);
  EXPECT_FALSE(bound.take("", 11));
  const auto held = bound.take("", 10);
  EXPECT_TRUE(held);
  EXPECT_FALSE(bound.take("", 1));
}

TEST(SharedBound, WhatIsHeldMayOutliveIt) {
  std::shared_ptr<void> held;
  {
    SharedBound bound(1, 1);
    held = bound.take("a", 1);
  }
  held.reset();
}

}  // namespace
}  // namespace daybreak::api
