// SPDX-License-Identifier: Apache-2.0
#include "chat/image_tokens.h"

#include <gtest/gtest.h>

namespace daybreak::chat {
namespace {

TEST(ImageTokens, EqualThePublishedExamples) {
  EXPECT_EQ(image_pad_tokens({56, 28}), 2U);
  EXPECT_EQ(image_pad_tokens({224, 224}), 64U);
  EXPECT_EQ(image_pad_tokens({1024, 768}), 1036U);
  EXPECT_EQ(image_pad_tokens({1920, 1080}), 2691U);
  EXPECT_EQ(image_pad_tokens({4000, 3000}), 15444U);
  EXPECT_EQ(image_pad_tokens({4096, 4096}), 16641U);
  EXPECT_EQ(image_pad_tokens({7168, 7168}), 16384U);
}

TEST(ImageTokens, ExtremeShapesStayBounded) {
  EXPECT_EQ(image_pad_tokens({1, 1}), 1U);
  EXPECT_EQ(image_pad_tokens({65'536, 1}), 256U);
  EXPECT_LE(image_pad_tokens({65'536, 65'536}), 16'900U);
}

}  // namespace
}  // namespace daybreak::chat
