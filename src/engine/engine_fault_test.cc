// SPDX-License-Identifier: Apache-2.0
// A request that memory fails for leaves nothing behind. Replaces the global allocation function of
// this test binary by one that can be told to fail.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <new>

#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/step_gate.h"

namespace {

// Of this thread: the allocation that fails, counted from now; 0: none.
thread_local std::size_t g_failing = 0;

}  // namespace

void* operator new(std::size_t size) {
  if (g_failing > 0 && --g_failing == 0) {
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace daybreak::engine {
namespace {

GenerateRequest request(int priority, bool yields_place) {
  GenerateRequest r;
  r.prompt = {1, 2, 3};
  r.max_tokens = 4;
  r.priority = priority;
  r.yields_place = yields_place;
  r.may_displace = true;
  return r;
}

TEST(EngineFault, ARequestWithoutMemoryIsRefusedAndDisplacesNobody) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine =
      *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{.slots = 1}, observer),
                     EngineOptions{.max_queue = 1});
  AnswerCollector running;
  ASSERT_TRUE(engine->submit(request(0, false), running.fn()));
  gate.wait_entered();
  AnswerCollector displaced;
  ASSERT_TRUE(engine->submit(request(0, true), displaced.fn()));
  AnswerCollector higher;
  std::size_t failures = 0;
  for (bool accepted = false; !accepted; failures += accepted ? 0 : 1) {
    GenerateRequest r = request(9, false);
    UpdateFn fn = higher.fn();
    g_failing = failures + 1;
    const Result<RequestId> id = engine->submit(std::move(r), std::move(fn));
    g_failing = 0;
    accepted = id.has_value();
    ASSERT_TRUE(accepted || id.error().code == Errc::kResourceLimit) << id.error().message;
    EXPECT_EQ(engine->stats().queued, 1U);
    EXPECT_EQ(engine->stats().rejected, accepted ? failures : failures + 1);
  }
  EXPECT_GE(failures, 3U) << "expected the job and its entry at least";
  gate.open_for_good();
  EXPECT_EQ(displaced.wait(), FinishReason::kError);
  for (AnswerCollector* answer : {&running, &higher}) {
    EXPECT_EQ(answer->wait(), FinishReason::kLength);
  }
  EXPECT_EQ(engine->stats().displaced, 1U);
  EXPECT_EQ(engine->stop(std::chrono::milliseconds(0)), 0U);
}

// The queue itself asks for memory only once in many requests, when the job is known already.
TEST(EngineFault, ARequestThatTheQueueHasNoMemoryForIsNotKnownAnyMore) {
  constexpr std::size_t kRequests = 200;
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine =
      *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{.slots = 1}, observer),
                     EngineOptions{.max_queue = kRequests});
  std::deque<AnswerCollector> answers(kRequests);
  ASSERT_TRUE(engine->submit(request(0, false), answers[0].fn()));
  gate.wait_entered();
  std::size_t most = 0;
  std::size_t fewest = kRequests;
  for (std::size_t i = 1; i < kRequests; ++i) {
    std::size_t failures = 0;
    for (bool accepted = false; !accepted; failures += accepted ? 0 : 1) {
      GenerateRequest r = request(0, false);
      UpdateFn fn = answers[i].fn();
      g_failing = failures + 1;
      const Result<RequestId> id = engine->submit(std::move(r), std::move(fn));
      g_failing = 0;
      accepted = id.has_value();
      ASSERT_EQ(engine->stats().queued, accepted ? i : i - 1);
    }
    most = std::max(most, failures);
    fewest = std::min(fewest, failures);
  }
  EXPECT_GT(most, fewest) << "expected the queue to have grown";
  gate.open_for_good();
  for (AnswerCollector& answer : answers) {
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
  }
  EXPECT_EQ(engine->stop(std::chrono::milliseconds(0)), 0U);
}

}  // namespace
}  // namespace daybreak::engine
