// SPDX-License-Identifier: Apache-2.0
#include "engine/waiting_queue.h"

#include <gtest/gtest.h>

namespace daybreak::engine {
namespace {

using std::chrono::seconds;

// Returns a job that came `at` seconds after the first.
std::unique_ptr<Job> job(std::uint64_t id, int priority, int at, bool yields_place = false) {
  GenerateRequest r;
  r.prompt = {1};
  r.priority = priority;
  r.yields_place = yields_place;
  return std::make_unique<Job>(
      RequestId{id}, std::move(r), [](const Update&) {}, Clock::TimePoint(seconds(1000 + at)));
}

std::vector<std::uint64_t> order(WaitingQueue& queue) {
  std::vector<std::uint64_t> out;
  while (!queue.empty()) {
    out.push_back(static_cast<std::uint64_t>(queue.remove(*queue.front())->id()));
  }
  return out;
}

TEST(WaitingQueue, HigherPriorityFirstAndFirstComeFirstServedWithinOne) {
  WaitingQueue queue;
  queue.add(job(1, 0, 0));
  queue.add(job(2, 5, 1));
  queue.add(job(3, 0, 1));
  queue.add(job(4, 9, 2));
  queue.add(job(5, 5, 2));
  queue.add(job(6, 5, 2));  // at the same time
  EXPECT_EQ(order(queue), (std::vector<std::uint64_t>{4, 2, 5, 6, 1, 3}));
}

TEST(WaitingQueue, WaitingCountsAsPriority) {
  const int age = static_cast<int>(kPriorityAge.count());
  WaitingQueue queue;
  queue.add(job(1, 0, 0));
  queue.add(job(2, 1, age - 1));
  queue.add(job(3, 1, age + 1));
  queue.add(job(4, kMaxPriority, kMaxPriority * age - 2));
  queue.add(job(5, kMaxPriority, kMaxPriority * age + 1));
  EXPECT_EQ(order(queue), (std::vector<std::uint64_t>{4, 2, 1, 3, 5}));
}

TEST(WaitingQueue, CancelledOnesLeaveAndTheOthersKeepTheirOrder) {
  WaitingQueue queue;
  for (std::uint64_t id = 1; id <= 4; ++id) {
    queue.add(job(id, 0, 0));
  }
  queue.front()->cancelled = true;
  EXPECT_EQ(queue.remove_dropped().size(), 1U);
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(order(queue), (std::vector<std::uint64_t>{2, 3, 4}));
}

// Returns whether a request of `priority` that comes `at` displaces somebody.
bool displace(WaitingQueue& queue, int priority, int at) {
  Job* const found = queue.find_displaceable(Clock::TimePoint(seconds(1000 + at)), priority);
  if (found != nullptr) {
    queue.displace(*found);
  }
  return found != nullptr;
}

// Which jobs a request of `priority` that comes `at` displaces, one after the other.
std::vector<std::uint64_t> displaced(WaitingQueue& queue, int priority, int at) {
  while (displace(queue, priority, at)) {
    // Each time somebody else.
  }
  std::vector<std::uint64_t> out;
  for (const auto& one : queue.remove_dropped()) {
    out.push_back(static_cast<std::uint64_t>(one->id()));
  }
  return out;
}

TEST(WaitingQueue, OnlyWhoWouldStartLaterLosesHisPlace) {
  const int age = static_cast<int>(kPriorityAge.count());
  WaitingQueue queue;
  queue.add(job(1, 0, 0, true));
  queue.add(job(2, 0, 2, true));
  queue.add(job(3, 0, 3, false));
  queue.add(job(4, 1, 3, true));
  queue.add(job(5, 5, 3, true));
  const int at = age + 1;
  EXPECT_TRUE(displaced(queue, 0, at).empty()) << "of the same priority: they came first";
  EXPECT_EQ(displaced(queue, 1, at), (std::vector<std::uint64_t>{2})) << "the first has waited";
  EXPECT_EQ(displaced(queue, 4, at), (std::vector<std::uint64_t>{4, 1}));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(order(queue), (std::vector<std::uint64_t>{5, 3}));
}

TEST(WaitingQueue, TheLastOneLosesItsPlaceOnceAndMayStartAllTheSame) {
  WaitingQueue queue;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    queue.add(job(id, 0, static_cast<int>(id), true));
  }
  EXPECT_TRUE(displace(queue, 9, 10));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_TRUE(displace(queue, 9, 10));
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(order(queue), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace daybreak::engine
