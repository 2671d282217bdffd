// SPDX-License-Identifier: Apache-2.0
#include "engine/mask_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "engine/latch_constraint.h"
#include "testing/hand_clock.h"

namespace daybreak::engine {
namespace {

using std::chrono::milliseconds;

class MaskWorkersTest : public ::testing::Test {
 protected:
  // Runs the task and returns the lane of its next run.
  MaskLane run(MaskTask& task) {
    workers.submit(task);
    wait(task);
    return task.lane();
  }
  static void wait(const MaskTask& task) {
    while (task.busy()) {
      std::this_thread::yield();
    }
  }
  // Takes `time` by the clock.
  std::unique_ptr<MaskTask> task_of(std::chrono::nanoseconds time) {
    return std::make_unique<MaskTask>([this, time] { clock.advance(time); });
  }
  // Is in `lane`, and blocks on the latch from its next run on.
  std::unique_ptr<MaskTask> blocking(MaskLane lane) {
    auto first = std::make_shared<bool>(lane != MaskLane::kFirst);
    auto task = std::make_unique<MaskTask>([this, first, lane] {
      if (!std::exchange(*first, false)) {
        latch.pass();
      } else if (lane == MaskLane::kSlow) {
        clock.advance(milliseconds(6));
      }
    });
    if (lane != MaskLane::kFirst) {
      EXPECT_EQ(run(*task), lane);
    }
    return task;
  }

  testing::HandClock clock;
  std::atomic<std::size_t> done{0};
  Latch latch;
  MaskWorkers workers{clock, [this] { ++done; }};
};

TEST_F(MaskWorkersTest, TheLaneIsThatOfTheRunsSoFar) {
  const auto at_bound = task_of(kQuickMask);
  EXPECT_EQ(at_bound->lane(), MaskLane::kFirst);
  EXPECT_EQ(run(*at_bound), MaskLane::kQuick);
  EXPECT_DOUBLE_EQ(at_bound->seconds(), 0.005);
  EXPECT_EQ(run(*task_of(kQuickMask + std::chrono::nanoseconds(1))), MaskLane::kSlow);
}

TEST_F(MaskWorkersTest, ASlowTaskReturnsAfterQuickRunsInARow) {
  milliseconds time(6);
  MaskTask task([&] { clock.advance(time); });
  EXPECT_EQ(run(task), MaskLane::kSlow);
  for (int round = 0; round < 2; ++round) {
    time = milliseconds(1);
    for (std::size_t i = 1; i < kQuickRunsToReturn; ++i) {
      EXPECT_EQ(run(task), MaskLane::kSlow) << i;
    }
    time = milliseconds(6);  // begins the row again
    EXPECT_EQ(run(task), MaskLane::kSlow);
  }
  time = milliseconds(1);
  for (std::size_t i = 1; i < kQuickRunsToReturn; ++i) {
    run(task);
  }
  EXPECT_EQ(run(task), MaskLane::kQuick);
  time = milliseconds(6);
  EXPECT_EQ(run(task), MaskLane::kSlow);
}

TEST_F(MaskWorkersTest, SlowTasksTakeTurnsAndOthersGoOn) {
  std::vector<std::unique_ptr<MaskTask>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(blocking(MaskLane::kSlow));
  }
  for (const auto& task : slow) {
    workers.submit(*task);
  }
  latch.wait_entered(1);
  const auto quick = task_of(milliseconds(0));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(run(*quick), MaskLane::kQuick);
    EXPECT_EQ(run(*task_of(milliseconds(0))), MaskLane::kQuick);  // its first run
  }
  EXPECT_EQ(latch.entered(), 1U);
  latch.open();
  for (const auto& task : slow) {
    wait(*task);
  }
  EXPECT_EQ(latch.entered(), 4U);
}

TEST_F(MaskWorkersTest, FirstRunsLeaveOneWorkerToQuickTasks) {
  const auto quick = task_of(milliseconds(0));
  run(*quick);
  std::vector<std::unique_ptr<MaskTask>> first;
  for (int i = 0; i < 4; ++i) {
    first.push_back(blocking(MaskLane::kFirst));
    workers.submit(*first.back());
  }
  latch.wait_entered(2);
  for (int i = 0; i < 100; ++i) {
    run(*quick);
  }
  EXPECT_EQ(latch.entered(), 2U);
  latch.open();
  for (const auto& task : first) {
    wait(*task);
  }
}

TEST_F(MaskWorkersTest, AQuickTaskThatBlocksIsOvertaken) {
  const auto stuck = blocking(MaskLane::kQuick);
  const auto quick = task_of(milliseconds(0));
  run(*quick);
  workers.submit(*stuck);
  latch.wait_entered(1);
  for (int i = 0; i < 100; ++i) {
    run(*quick);
  }
  EXPECT_TRUE(stuck->busy());
  latch.open();
  wait(*stuck);
}

TEST_F(MaskWorkersTest, WithdrawTakesBackWhatHasNotBegun) {
  const auto running = blocking(MaskLane::kSlow);
  const auto queued = blocking(MaskLane::kSlow);
  workers.submit(*running);
  latch.wait_entered(1);
  workers.submit(*queued);
  EXPECT_FALSE(workers.withdraw(*running));
  EXPECT_TRUE(running->busy());
  EXPECT_TRUE(workers.withdraw(*queued));
  EXPECT_FALSE(queued->busy());
  EXPECT_TRUE(workers.withdraw(*queued));  // nothing to take back
  latch.open();
  wait(*running);
  EXPECT_EQ(latch.entered(), 1U);
  workers.submit(*queued);
  wait(*queued);
  EXPECT_EQ(latch.entered(), 2U);
}

TEST(MaskWorkers, TheEndWaitsForWhatRunsAndLeavesTheRest) {
  testing::HandClock clock;
  std::atomic<int> ran{0};
  std::vector<std::unique_ptr<MaskTask>> tasks;
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> told{0};
    const int before = ran;
    {
      MaskWorkers workers(clock, [&] { ++told; });
      for (int i = 0; i < 5; ++i) {
        tasks.push_back(std::make_unique<MaskTask>([&] { ++ran; }));
        workers.submit(*tasks.back());
      }
    }
    EXPECT_EQ(told, ran - before);
  }
}

}  // namespace
}  // namespace daybreak::engine
