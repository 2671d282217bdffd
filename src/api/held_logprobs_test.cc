// SPDX-License-Identifier: Apache-2.0
#include "api/held_logprobs.h"

#include <gtest/gtest.h>

namespace daybreak::api {
namespace {

constexpr std::size_t kFirst = kFirstHeldLogprobs;
constexpr std::size_t kPiece = kHeldLogprobsPiece;

TEST(HeldLogprobs, GrowByPiecesAndNotPastWhatTheyWillEverNeed) {
  constexpr std::size_t kAll = 4 * kPiece;
  SharedBound bound(kAll, kAll);
  const auto holds = [&](std::size_t amount) {
    return bound.take("b", kAll - amount) != nullptr &&
           bound.take("b", kAll - amount + 1) == nullptr;
  };
  {
    HeldLogprobs held(bound, "a", 2, kPiece + kPiece / 2 - 5);
    EXPECT_TRUE(held.grow(0));
    EXPECT_TRUE(holds(kFirst)) << "one before it begins";
    EXPECT_TRUE(held.grow(kFirst / 2 - 1));
    EXPECT_TRUE(holds(kFirst)) << "it has that";
    for (std::size_t size = kFirst; size <= kPiece; size *= 2) {
      EXPECT_TRUE(held.grow(size / 2));
      EXPECT_TRUE(holds(2 * size)) << size;
    }
    EXPECT_TRUE(held.grow(kPiece));
    EXPECT_TRUE(holds(3 * kPiece - 10)) << "a piece, but no more than it may need";
    const auto others = bound.take("b", kPiece);
    EXPECT_EQ(held.grow(2 * kPiece).error().code, Errc::kResourceLimit);
    EXPECT_FALSE(bound.take("b", 11)) << "nothing was taken";
  }
  EXPECT_TRUE(holds(0)) << "given back";
}

TEST(HeldLogprobs, ShortAnswersTakeWhatTheyNeed) {
  SharedBound bound(kMaxHeldLogprobs, kMaxHeldLogprobsOfOwner);
  HeldLogprobs held(bound, "a", 21, 16);
  EXPECT_TRUE(held.grow(0));
  EXPECT_TRUE(bound.take("a", kMaxHeldLogprobsOfOwner - 21 * 16));
  EXPECT_FALSE(bound.take("a", kMaxHeldLogprobsOfOwner - 21 * 16 + 1));
}

TEST(HeldLogprobs, ManyOfOneOwnerWaitAndSayALittle) {
  SharedBound bound(kMaxHeldLogprobs, kMaxHeldLogprobsOfOwner);
  std::vector<HeldLogprobs> held(256, HeldLogprobs(bound, "a", 21, 50'000));
  for (HeldLogprobs& one : held) {
    EXPECT_TRUE(one.grow(0));
  }
  for (HeldLogprobs& one : held) {
    EXPECT_TRUE(one.grow(150));
  }
}

TEST(HeldLogprobs, WhatNeverFitsIsNotTheFaultOfOthers) {
  SharedBound bound(100, 50);
  EXPECT_TRUE(HeldLogprobs(bound, "a", 5, 10).check_longest());
  EXPECT_TRUE(HeldLogprobs(bound, "", 10, 10).check_longest()) << "nobody else is there";
  EXPECT_EQ(HeldLogprobs(bound, "", 10, 11).check_longest().error().code, Errc::kTooLarge);
  HeldLogprobs held(bound, "a", 5, 11);
  const Status never = held.check_longest();
  EXPECT_EQ(never.error().code, Errc::kTooLarge);
  EXPECT_NE(never.error().message.find("the answers may have 55, expected at most 50"),
            std::string::npos);
  EXPECT_TRUE(held.grow(10));
  EXPECT_EQ(held.grow(11).error().code, Errc::kTooLarge);
  const auto others = bound.take("b", 50);
  HeldLogprobs more(bound, "a", 5, 10);
  EXPECT_EQ(more.grow(1).error().code, Errc::kResourceLimit);
}

}  // namespace
}  // namespace daybreak::api
