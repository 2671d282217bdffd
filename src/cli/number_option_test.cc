// SPDX-License-Identifier: Apache-2.0
#include "cli/number_option.h"

#include <gtest/gtest.h>

#include <cmath>

namespace daybreak::cli {
namespace {

TEST(NumberOption, TakesPositiveNumbersAndInfinityWhereAllowed) {
  EXPECT_EQ(*positive_number("--x", "0.5"), 0.5);
  EXPECT_EQ(*positive_number("--x", "1e3"), 1000);
  EXPECT_TRUE(std::isinf(*positive_number("--x", "inf", Infinity::kAllowed)));
}

TEST(NumberOption, RefusesAnythingElseByName) {
  for (const char* const text : {"", "0", "-1", "nan", "inf", "1x", " 1", "x"}) {
    const auto number = positive_number("--speed", text);
    ASSERT_FALSE(number) << text;
    EXPECT_EQ(number.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(number.error().message,
              std::string("--speed: expected a number above 0, found '") + text + "'");
  }
  EXPECT_FALSE(positive_number("--x", "-inf", Infinity::kAllowed));
}

}  // namespace
}  // namespace daybreak::cli
