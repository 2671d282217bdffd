// SPDX-License-Identifier: Apache-2.0
// Who gets a place in the engine's queue, who loses it, and who does not start from it.

#include <gtest/gtest.h>

#include <atomic>

#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/step_gate.h"

namespace daybreak::engine {
namespace {

GenerateRequest request(std::uint64_t which) {
  GenerateRequest r;
  r.prompt.assign(12, static_cast<TokenId>(which + 1));
  r.max_tokens = 20;
  r.sampling.seed = which;
  return r;
}

std::unique_ptr<Engine> start(FakeModel::Observer& observer, const EngineOptions& options) {
  return *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{.slots = 1}, observer),
                        options);
}

TEST(EngineQueue, TheQueueIsBounded) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, {.max_queue = 2});
  AnswerCollector answers[3];
  ASSERT_TRUE(engine->submit(request(0), answers[0].fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(request(1), answers[1].fn()));
  ASSERT_TRUE(engine->submit(request(2), answers[2].fn()));
  const Result<RequestId> refused = engine->submit(request(3), nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kResourceLimit);
  EXPECT_EQ(engine->stats().queued, 2U);
  EXPECT_EQ(engine->stats().running, 1U);
  gate.open_for_good();
  for (AnswerCollector& answer : answers) {
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
  }
}

TEST(EngineQueue, AFullQueueGivesThePlaceOfTheLastToOneOfHigherPriority) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, {.max_queue = 2});
  const auto with = [](std::uint64_t which, int priority, bool yields_place) {
    GenerateRequest r = request(which);
    r.priority = priority;
    r.yields_place = yields_place;
    r.may_displace = true;
    return r;
  };
  AnswerCollector running;
  AnswerCollector stays;
  AnswerCollector displaced;
  AnswerCollector higher;
  ASSERT_TRUE(engine->submit(with(0, 0, true), running.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(with(1, 0, false), stays.fn()));
  ASSERT_TRUE(engine->submit(with(2, 3, true), displaced.fn()));
  EXPECT_EQ(engine->submit(with(3, 3, true), nullptr).error().code, Errc::kResourceLimit);
  ASSERT_TRUE(engine->submit(with(4, 4, true), higher.fn()));
  EXPECT_EQ(engine->stats().queued, 2U);
  EXPECT_EQ(engine->submit(with(5, 4, true), nullptr).error().code, Errc::kResourceLimit);
  gate.open_for_good();
  EXPECT_EQ(displaced.wait(), FinishReason::kError);
  EXPECT_EQ(displaced.error(),
            "the server is busy: 2 requests wait already, as many as may; try again later");
  EXPECT_TRUE(displaced.ids().empty());
  EXPECT_TRUE(displaced.times().displaced.has_value());
  EXPECT_FALSE(displaced.times().started.has_value());
  for (AnswerCollector* answer : {&running, &stays, &higher}) {
    EXPECT_EQ(answer->wait(), FinishReason::kLength);
    EXPECT_FALSE(answer->times().displaced.has_value());
  }
  EXPECT_EQ(engine->stats().displaced, 1U);
}

TEST(EngineQueue, NobodyLosesItsPlaceToOneThatMayNotDisplace) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, {.max_queue = 2});
  AnswerCollector answers[3];
  for (std::uint64_t i = 0; i < 3; ++i) {
    GenerateRequest r = request(i);
    r.yields_place = true;
    ASSERT_TRUE(engine->submit(std::move(r), answers[i].fn()));
    if (i == 0) {
      gate.wait_entered();
    }
  }
  // As the max_queue + 1 choices of one request come.
  GenerateRequest higher = request(3);
  higher.priority = kMaxPriority;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(engine->submit(higher, nullptr).error().code, Errc::kResourceLimit);
  }
  gate.open_for_good();
  for (AnswerCollector& answer : answers) {
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
  }
  EXPECT_EQ(engine->stats().displaced, 0U);
}

TEST(EngineQueue, WhoseOwnerIsNotServedAnyMoreDoesNotStart) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  std::atomic<bool> revoked{false};
  const auto engine = start(observer, {.owner_valid = [&](const std::string& isolation) {
                              return isolation != "a" || !revoked;
                            }});
  const auto of = [](std::uint64_t which, const char* isolation) {
    GenerateRequest r = request(which);
    r.isolation = isolation;
    return r;
  };
  AnswerCollector running;
  AnswerCollector waiting;
  AnswerCollector other;
  ASSERT_TRUE(engine->submit(of(0, "a"), running.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(of(1, "a"), waiting.fn()));
  ASSERT_TRUE(engine->submit(of(2, "b"), other.fn()));
  revoked = true;
  gate.open_for_good();
  EXPECT_EQ(running.wait(), FinishReason::kLength) << "it has begun";
  EXPECT_EQ(waiting.wait(), FinishReason::kError);
  EXPECT_EQ(waiting.error(), "the API key was revoked or has expired while the request waited");
  EXPECT_EQ(other.wait(), FinishReason::kLength);
  EXPECT_EQ(engine->stats().kept_sequences, 1U);
}

}  // namespace
}  // namespace daybreak::engine
