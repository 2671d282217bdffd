// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace daybreak {
namespace {

TEST(Clock, NeverGoesBack) {
  Clock::TimePoint last = Clock::steady().now();
  for (int i = 0; i < 1000; ++i) {
    const Clock::TimePoint now = Clock::steady().now();
    ASSERT_LE(last, now);
    last = now;
  }
}

TEST(Clock, SecondsBetweenIsSigned) {
  const Clock::TimePoint start;
  EXPECT_DOUBLE_EQ(seconds_between(start, start + std::chrono::milliseconds(1500)), 1.5);
  EXPECT_DOUBLE_EQ(seconds_between(start + std::chrono::seconds(1), start), -1.0);
}

}  // namespace
}  // namespace daybreak
