// SPDX-License-Identifier: Apache-2.0
#include "engine/draft_length.h"

#include <gtest/gtest.h>

#include <vector>

namespace daybreak::engine {
namespace {

TEST(DraftLength, DoublesAfterFullSuccessUpToTheMost) {
  DraftLength length(7);
  std::vector<std::size_t> seen;
  for (int i = 0; i < 4; ++i) {
    seen.push_back(length.next());
    length.learn(seen.back(), seen.back());
  }
  EXPECT_EQ(seen, (std::vector<std::size_t>{2, 4, 7, 7}));
}

TEST(DraftLength, FollowsWhatWasAccepted) {
  DraftLength length(8);
  length.learn(8, 3);
  EXPECT_EQ(length.next(), 4U);
  length.learn(4, 1);
  EXPECT_EQ(length.next(), 2U);
}

TEST(DraftLength, RestsTwiceAsLongAfterEachFailureInARow) {
  DraftLength length(4);
  std::vector<std::size_t> rests;
  for (int failure = 0; failure < 10; ++failure) {
    length.learn(1, 0);
    std::size_t rest = 0;
    while (length.next() == 0) {
      ++rest;
    }
    rests.push_back(rest);
  }
  EXPECT_EQ(rests, (std::vector<std::size_t>{0, 1, 2, 4, 8, 16, 32, 64, 64, 64}));
  length.learn(1, 1);
  EXPECT_EQ(length.next(), 2U);
  length.learn(2, 0);
  EXPECT_EQ(length.next(), 1U) << "one success forgets the failures";
}

TEST(DraftLength, AMostOfOneStaysOne) {
  DraftLength length(1);
  EXPECT_EQ(length.next(), 1U);
  length.learn(1, 1);
  EXPECT_EQ(length.next(), 1U);
}

}  // namespace
}  // namespace daybreak::engine
