// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace daybreak {
namespace {

TEST(ThreadTeam, RunsEveryWorkerOnceAndWaitsForAll) {
  for (const std::size_t threads : {1u, 2u, 3u, 8u}) {
    ThreadTeam team(threads);
    ASSERT_EQ(team.size(), threads);
    std::vector<int> calls(threads, 0);
    for (int i = 0; i < 50; ++i) {
      team.run([&](std::size_t worker, std::size_t workers) {
        EXPECT_EQ(workers, threads);
        ++calls[worker];  // plain: run() must order this before the next round's
      });
    }
    EXPECT_EQ(calls, std::vector<int>(threads, 50));
  }
}

TEST(ThreadTeam, TheCallerIsWorkerZero) {
  ThreadTeam team(3);
  std::vector<std::thread::id> ids(3);
  team.run([&](std::size_t worker, std::size_t) { ids[worker] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], ids[0]);
  EXPECT_NE(ids[2], ids[1]);
}

TEST(ThreadTeam, RangesCoverEveryIndexOnceAtMultiplesOfTheGrain) {
  for (const std::size_t threads : {1u, 2u, 3u, 5u}) {
    ThreadTeam team(threads);
    for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 64u, 65u, 1000u}) {
      for (const std::size_t grain : {1u, 8u, 100u}) {
        SCOPED_TRACE(::testing::Message() << threads << " threads, n " << n << ", grain " << grain);
        std::vector<int> seen(n, 0);
        team.for_ranges(n, grain, [&](std::size_t begin, std::size_t end) {
          EXPECT_LT(begin, end);
          EXPECT_EQ(begin % grain, 0u);
          EXPECT_TRUE(end % grain == 0 || end == n);
          for (std::size_t i = begin; i < end; ++i) {
            ++seen[i];
          }
        });
        EXPECT_EQ(seen, std::vector<int>(n, 1));
      }
    }
  }
}

TEST(ThreadTeam, WorkIsSharedOut) {
  ThreadTeam team(4);
  std::vector<std::size_t> share;
  std::atomic<std::size_t> ranges = 0;
  std::atomic<std::size_t> largest = 0;
  team.for_ranges(1000, 1, [&](std::size_t begin, std::size_t end) {
    ++ranges;
    std::size_t seen = largest;
    while (end - begin > seen && !largest.compare_exchange_weak(seen, end - begin)) {
    }
  });
  EXPECT_EQ(ranges, 4u);
  EXPECT_EQ(largest, 250u);
}

thread_local int hook_calls = 0;

TEST(ThreadTeam, TheStartHookRunsOnceOnEachNewThread) {
  hook_calls = 0;
  ThreadTeam team(3, [] { ++hook_calls; });
  std::vector<int> calls(3);
  for (int i = 0; i < 3; ++i) {
    team.run([&](std::size_t worker, std::size_t) { calls[worker] = hook_calls; });
  }
  EXPECT_EQ(calls, (std::vector<int>{0, 1, 1}));
}

// Long pauses make the workers sleep; they must wake for the next round.
TEST(ThreadTeam, StartRefusesNumbersOutsideItsBounds) {
  EXPECT_EQ((*ThreadTeam::start(1))->size(), 1u);
  const auto none = ThreadTeam::start(0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "threads: expected 1 to 1024, found 0");
  const auto many = ThreadTeam::start(kMaxTeamThreads + 1);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message, "threads: expected 1 to 1024, found 1025");
}

#if !defined(DAYBREAK_SANITIZED)  // sanitizers reserve more address space than the limit leaves
TEST(ThreadTeam, AThreadTheSystemRefusesIsAnErrorAndTheOthersEnd) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = rlim_t{2} << 30;  // room for some 200 stacks
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const auto team = ThreadTeam::start(kMaxTeamThreads);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_FALSE(team);
  EXPECT_EQ(team.error().code, Errc::kIo);
  EXPECT_EQ(team.error().message.find("threads: cannot start 1024: "), 0u) << team.error().message;
}
#endif

TEST(ThreadTeam, SleepingWorkersWakeUp) {
  ThreadTeam team(3);
  std::atomic<int> calls = 0;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    team.run([&](std::size_t worker, std::size_t) {
      if (worker == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the owner sleeps, too
      }
      ++calls;
    });
  }
  EXPECT_EQ(calls, 15);
}

TEST(ThreadTeam, TeamsThatNeverRanOrJustRanCanBeDestroyed) {
  for (int i = 0; i < 50; ++i) {
    ThreadTeam team(4);
    if (i % 2 == 0) {
      team.run([](std::size_t, std::size_t) {});
    }
  }
}

TEST(ThreadTeam, SeveralTeamsMayRunAtTheSameTime) {
  std::atomic<int> calls = 0;
  std::vector<std::jthread> owners;
  for (int i = 0; i < 3; ++i) {
    owners.emplace_back([&] {
      ThreadTeam team(2);
      for (int round = 0; round < 200; ++round) {
        team.run([&](std::size_t, std::size_t) { ++calls; });
      }
    });
  }
  owners.clear();
  EXPECT_EQ(calls, 3 * 200 * 2);
}

// Barriers that only spin collapse when somebody else uses the cores: each waits for a worker that
// is not scheduled while burning the time slice it needs. With a busy thread on every core, 2000
// rounds must still end (the figure is reported, not gated: ctest's own timeout is the bound).
TEST(ThreadTeam, BarriersFinishBesideBusyNeighbours) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<bool> stop = false;
  std::vector<std::jthread> neighbours;
  for (unsigned i = 0; i < cores; ++i) {
    neighbours.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  }
  ThreadTeam team(cores);
  std::vector<std::size_t> rounds(team.size(), 0);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 2000; ++i) {
    team.run([&](std::size_t worker, std::size_t) { ++rounds[worker]; });
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  stop = true;
  EXPECT_EQ(rounds, std::vector<std::size_t>(team.size(), 2000));
  RecordProperty("microseconds_per_barrier", static_cast<int>(elapsed.count() * 1e6 / 2000));
}

#if !defined(NDEBUG)
TEST(ThreadTeamDeathTest, NestedRunsAreAProgrammerError) {
  EXPECT_DEATH(
      {
        ThreadTeam team(1);
        team.run([&](std::size_t, std::size_t) { team.run([](std::size_t, std::size_t) {}); });
      },
      "nest");
}
#endif

}  // namespace
}  // namespace daybreak
