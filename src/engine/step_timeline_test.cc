// SPDX-License-Identifier: Apache-2.0
#include "engine/step_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"

namespace daybreak::engine {
namespace {

void add_step(StepTimeline& timeline, std::uint64_t request) {
  timeline.begin();
  timeline.feed({.request = request, .slot = 0, .tokens = 1});
  for (std::size_t i = 0; i < kStepPhases; ++i) {
    timeline.end(static_cast<StepPhase>(i));
  }
  timeline.commit(1, 0);
}

TEST(StepTimeline, KeepsTheLastSteps) {
  StepTimeline timeline(3, Clock::steady());
  for (std::uint64_t step = 1; step <= 7; ++step) {
    add_step(timeline, step);
    const std::vector<StepRecord> kept = timeline.steps();
    ASSERT_EQ(kept.size(), std::min<std::size_t>(step, 3));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::uint64_t number = step - kept.size() + 1 + i;
      EXPECT_EQ(kept[i].number, number);
      ASSERT_EQ(kept[i].feeds.size(), 1U);
      EXPECT_EQ(kept[i].feeds[0].request, number);
    }
  }
}

TEST(StepTimeline, KeepsNothingIfToldSo) {
  StepTimeline timeline(0, Clock::steady());
  add_step(timeline, 1);
  EXPECT_TRUE(timeline.steps().empty());
}

TEST(StepTimeline, AStepThatIsNotCommittedIsForgotten) {
  StepTimeline timeline(2, Clock::steady());
  timeline.begin();
  timeline.feed({.request = 8});
  add_step(timeline, 9);
  ASSERT_EQ(timeline.steps().size(), 1U);
  ASSERT_EQ(timeline.steps()[0].feeds.size(), 1U);
  EXPECT_EQ(timeline.steps()[0].feeds[0].request, 9U);
}

TEST(StepTimeline, OfAnEngineSaysWhoFedWhat) {
  FakeModel::Observer observer;
  const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer),
                                     {.step_tokens = 8, .timeline_steps = 100});
  GenerateRequest request;
  request.prompt.assign(12, 1);
  request.max_tokens = 3;
  AnswerCollector answer;
  const auto id = engine->submit(request, answer.fn());
  ASSERT_TRUE(id);
  answer.wait();
  engine->stop(std::chrono::milliseconds(0));
  const std::vector<StepRecord> steps = engine->steps();
  ASSERT_EQ(steps.size(), 4U);
  const std::vector<std::pair<std::uint32_t, bool>> wanted = {
      {8, true}, {4, true}, {1, false}, {1, false}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(steps[i].feeds.size(), 1U);
    EXPECT_EQ(steps[i].feeds[0].request, static_cast<std::uint64_t>(*id));
    EXPECT_EQ(steps[i].feeds[0].slot, 0U);
    EXPECT_EQ(steps[i].feeds[0].tokens, wanted[i].first);
    EXPECT_EQ(steps[i].feeds[0].prefill, wanted[i].second);
    EXPECT_EQ(steps[i].running, 1U);
    EXPECT_EQ(steps[i].sat_out, 0U);
    EXPECT_LE(steps[i].began, steps[i].ends[0]);
    EXPECT_TRUE(std::ranges::is_sorted(steps[i].ends));
  }
}

TEST(StepTimeline, MoreStepsThanTheBoundAreRefused) {
  FakeModel::Observer observer;
  const auto start = [&](std::size_t steps) {
    return Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer),
                         {.timeline_steps = steps});
  };
  EXPECT_TRUE(start(kMaxTimelineSteps));
  EXPECT_EQ(start(kMaxTimelineSteps + 1).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace daybreak::engine
