// SPDX-License-Identifier: Apache-2.0
#include "cli/edit_distance.h"

#include <gtest/gtest.h>

namespace daybreak::cli {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("generat", "generate"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ab", "ba"), 2U);  // a swap is two
}

TEST(NearestName, IsASlipAwayOrNone) {
  constexpr std::string_view kNames[] = {"port", "ports", "model"};
  EXPECT_EQ(nearest_name("prt", kNames), "port");
  EXPECT_EQ(nearest_name("portsx", kNames), "ports");
  EXPECT_EQ(nearest_name("po", kNames), "port");  // half of it, just a slip
  EXPECT_EQ(nearest_name("bogus", kNames), "");   // 4 of the 5 letters of "model"
  EXPECT_EQ(nearest_name("mo", kNames), "");      // one letter more than half
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name("port", {}), "");
  EXPECT_EQ(nearest_name(std::string(1 << 20, 'x'), kNames), "");
}

}  // namespace
}  // namespace daybreak::cli
