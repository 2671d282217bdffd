// SPDX-License-Identifier: Apache-2.0
#include "api/held_logprobs.h"

#include <gtest/gtest.h>

namespace daybreak::api {
namespace {

constexpr std::size_t kPiece = kHeldLogprobsPiece;

TEST(HeldLogprobs, GrowByPiecesAndNotPastWhatTheyWillEverNeed) {
  SharedBound bound(3 * kPiece, 3 * kPiece);
  const auto left = [&](std::size_t amount) {
    return bound.take("b", amount) != nullptr && bound.take("b", amount + 1) == nullptr;
  };
  {
    HeldLogprobs held(bound, "a", 2, kPiece + 5);
    EXPECT_TRUE(held.grow(0));
    EXPECT_TRUE(left(2 * kPiece)) << "one before it begins";
    EXPECT_TRUE(held.grow(kPiece / 2 - 1));
    EXPECT_TRUE(left(2 * kPiece)) << "it has that";
    EXPECT_TRUE(held.grow(kPiece / 2));
    EXPECT_TRUE(left(kPiece));
    EXPECT_TRUE(held.grow(kPiece));
    EXPECT_TRUE(left(kPiece - 10)) << "no more than it may need";
    const Status past = held.grow(2 * kPiece);
    EXPECT_EQ(past.error().code, Errc::kResourceLimit);
    EXPECT_TRUE(left(kPiece - 10)) << "nothing was taken";
  }
  EXPECT_TRUE(left(3 * kPiece)) << "given back";
}

TEST(HeldLogprobs, ShortAnswersTakeWhatTheyNeed) {
  SharedBound bound(kMaxHeldLogprobs, kMaxHeldLogprobsOfOwner);
  HeldLogprobs held(bound, "a", 21, 16);
  EXPECT_TRUE(held.grow(0));
  EXPECT_TRUE(bound.take("a", kMaxHeldLogprobsOfOwner - 21 * 16));
  EXPECT_FALSE(bound.take("a", kMaxHeldLogprobsOfOwner - 21 * 16 + 1));
}

}  // namespace
}  // namespace daybreak::api
