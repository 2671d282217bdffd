// SPDX-License-Identifier: Apache-2.0
#include "engine/step_planner.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.h"

namespace daybreak::engine {
namespace {

using Counts = std::vector<std::size_t>;

TEST(StepPlanner, GivesGeneratingSequencesTheirTokenFirst) {
  EXPECT_EQ(plan_step(Counts{1, 1000, 1}, 10), (Counts{1, 8, 1}));
  EXPECT_EQ(plan_step(Counts{1, 1000, 1}, 2), (Counts{1, 1, 1}));
  EXPECT_EQ(plan_step(Counts{1, 1, 1}, 2), (Counts{1, 1, 1}));
}

TEST(StepPlanner, SharesTheRestEvenlyAndTheOldestTakesTheRemainder) {
  EXPECT_EQ(plan_step(Counts{1000, 1000}, 10), (Counts{5, 5}));
  EXPECT_EQ(plan_step(Counts{1000, 1000, 1000}, 11), (Counts{4, 4, 3}));
  EXPECT_EQ(plan_step(Counts{1000, 3}, 10), (Counts{7, 3}));
  EXPECT_EQ(plan_step(Counts{4, 3}, 100), (Counts{4, 3}));
}

TEST(StepPlanner, KeepsItsPromisesForRandomLoads) {
  Rng rng(5);
  for (int round = 0; round < 5000; ++round) {
    Counts pending(1 + rng.below(9));
    std::size_t generating = 0;
    for (std::size_t& p : pending) {
      p = rng.below(2) == 0 ? 1 : 1 + rng.below(40);
      generating += p == 1 ? 1 : 0;
    }
    const std::size_t budget = 1 + rng.below(60);
    const Counts share = plan_step(pending, budget);
    ASSERT_EQ(share.size(), pending.size());
    const std::size_t sum = std::accumulate(share.begin(), share.end(), std::size_t{0});
    // The budget is kept, and nothing is wasted while somebody could still use it.
    const std::size_t wanted = std::accumulate(pending.begin(), pending.end(), std::size_t{0});
    const std::size_t least = generating + (generating < pending.size() ? 1 : 0);
    ASSERT_EQ(sum, std::max(std::min(budget, wanted), least));
    for (std::size_t i = 0; i < share.size(); ++i) {
      ASSERT_LE(share[i], pending[i]);
      if (pending[i] == 1) {
        ASSERT_EQ(share[i], 1U);
      }
    }
  }
}

TEST(StepPlanner, NobodyGetsMoreThanOneIdAboveAnUnsatisfiedNeighbour) {
  Rng rng(6);
  for (int round = 0; round < 2000; ++round) {
    Counts pending(2 + rng.below(5));
    for (std::size_t& p : pending) {
      p = 2 + rng.below(50);
    }
    const Counts share = plan_step(pending, 1 + rng.below(100));
    for (std::size_t i = 0; i < share.size(); ++i) {
      for (std::size_t j = 0; j < share.size() && share[i] < pending[i]; ++j) {
        ASSERT_LE(share[j], share[i] + 1) << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace daybreak::engine
