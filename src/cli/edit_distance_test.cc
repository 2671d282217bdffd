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

}  // namespace
}  // namespace daybreak::cli
