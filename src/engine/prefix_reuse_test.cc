// SPDX-License-Identifier: Apache-2.0
// The engine goes on from kept sequences: what that changes in an answer (nothing but the usage),
// and what it must never cost.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

GenerateRequest request(Ids prompt, std::size_t max_tokens = 10) {
  GenerateRequest r;
  r.prompt = std::move(prompt);
  r.max_tokens = max_tokens;
  r.sampling.seed = 7;
  return r;
}

Ids random_ids(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  Ids ids(count);
  for (TokenId& id : ids) {
    id = rng.below(50);
  }
  return ids;
}

struct Answered {
  Ids ids;
  Usage usage;
  FinishReason finish{};
};

Answered ask(Engine& engine, const GenerateRequest& r) {
  AnswerCollector answer;
  EXPECT_TRUE(engine.submit(r, answer.fn()));
  const FinishReason finish = answer.wait();
  return {answer.ids(), answer.usage(), finish};
}

// The next turn: all that was said, and something new.
GenerateRequest next_turn(GenerateRequest last, const Ids& answer, const Ids& more) {
  last.prompt.insert(last.prompt.end(), answer.begin(), answer.end());
  last.prompt.insert(last.prompt.end(), more.begin(), more.end());
  return last;
}

struct PrefixReuseTest : ::testing::Test {
  std::unique_ptr<Engine> start(const EngineOptions& options = {}, FakeModelOptions model = {}) {
    return *Engine::start(std::make_unique<FakeModel>(model, observer), options);
  }
  // The answer without anything kept.
  Ids fresh(const GenerateRequest& r) {
    FakeModel::Observer own;
    const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, own),
                                       {.prefix_reuse = PrefixReuse::kOff});
    return ask(*engine, r).ids;
  }
  FakeModel::Observer observer;
};

TEST_F(PrefixReuseTest, AnEngineThatHasNothingToDoForgetsInTime) {
  const auto engine = start({.kept_age = std::chrono::seconds(1)});
  ask(*engine, request(random_ids(1, 20)));
  // Nothing else happens that could wake it.
  for (int i = 0; i < 3000 && observer.alive > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(observer.alive, 0U);
}

TEST_F(PrefixReuseTest, ATurnComputesWhatIsNewAndTheTokenThatWasNeverFed) {
  const auto engine = start();
  const GenerateRequest first = request(random_ids(1, 20));
  const Answered said = ask(*engine, first);
  EXPECT_EQ(said.usage.cached_tokens, 0U);
  const GenerateRequest second = next_turn(first, said.ids, {3, 4});
  const Answered answer = ask(*engine, second);
  EXPECT_EQ(answer.usage.cached_tokens, 29U);
  EXPECT_EQ(answer.usage.prompt_tokens, 32U);
  EXPECT_EQ(answer.ids, fresh(second));
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.prefill_tokens, 20U + 3U);
  EXPECT_EQ(stats.prefix_queries, 20U + 32U);
  EXPECT_EQ(stats.prefix_hits, 29U);
  EXPECT_EQ(stats.request_computed_prompt_tokens.sum, 20.0 + 3.0);
  EXPECT_EQ(stats.kept_sequences, 1U);
  EXPECT_EQ(stats.kept_positions, 32U + 9U);
  EXPECT_EQ(stats.positions_reserved, 0U);
}

TEST_F(PrefixReuseTest, AnAnswerThatWasStoppedIsGoneOnFromToo) {
  const GenerateRequest plain = request(random_ids(2, 20));
  GenerateRequest stopped = plain;
  stopped.stop_ids = {fresh(plain)[4]};
  const auto engine = start();
  const Answered said = ask(*engine, stopped);
  EXPECT_EQ(said.finish, FinishReason::kStop);
  const GenerateRequest second = next_turn(plain, said.ids, {1});
  const Answered answer = ask(*engine, second);
  EXPECT_EQ(answer.usage.cached_tokens, 20 + said.ids.size() - 1);
  EXPECT_EQ(answer.ids, fresh(second));
}

TEST_F(PrefixReuseTest, ARequestThatIsTriedAgainGoesOnFromWhatWasRead) {
  std::promise<void> entered;
  std::promise<void> go;
  std::atomic<int> steps{0};
  observer.before_step = [&](std::span<const StepChunk>) {
    if (++steps == 3) {
      entered.set_value();
      go.get_future().wait();
    }
    return ok();
  };
  const auto engine = start({.step_tokens = 8});
  const GenerateRequest r = request(random_ids(3, 100));
  AnswerCollector given_up;
  const RequestId id = *engine->submit(r, given_up.fn());
  entered.get_future().wait();
  engine->cancel(id);
  go.set_value();
  EXPECT_EQ(given_up.wait(), FinishReason::kCancelled);
  const Answered again = ask(*engine, r);
  EXPECT_EQ(again.usage.cached_tokens, 24U);
  EXPECT_EQ(again.ids, fresh(r));
}

TEST_F(PrefixReuseTest, WhatFailedIsNotGoneOnFrom) {
  observer.edit_logits = [](const Sequence& sequence, std::span<float> row) {
    if (sequence.position() == 25) {
      row[3] = std::numeric_limits<float>::quiet_NaN();
    }
  };
  const auto engine = start();
  const GenerateRequest r = request(random_ids(4, 20));
  const Answered failed = ask(*engine, r);
  EXPECT_EQ(failed.finish, FinishReason::kError);
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.kept_sequences, 0U);
  EXPECT_EQ(stats.positions_reserved, 0U);
  EXPECT_EQ(ask(*engine, next_turn(r, failed.ids, {1, 2, 3, 4, 5, 6})).usage.cached_tokens, 0U);
}

TEST_F(PrefixReuseTest, OfTwoThatGoOnFromTheSameOneReusesItAndBothAnswersAreRight) {
  const auto engine = start();
  const GenerateRequest first = request(random_ids(5, 30), 1);
  ask(*engine, first);
  const GenerateRequest left = next_turn(first, {1}, {2, 3});
  const GenerateRequest right = next_turn(first, {4}, {5});
  EXPECT_EQ(ask(*engine, left).usage.cached_tokens, 30U);
  const Answered other = ask(*engine, right);
  EXPECT_EQ(other.usage.cached_tokens, 0U);
  EXPECT_EQ(other.ids, fresh(right));
}

TEST_F(PrefixReuseTest, PromptLogProbabilitiesAreAllThere) {
  const auto engine = start();
  GenerateRequest r = request(random_ids(6, 30), 1);
  ask(*engine, r);
  const std::uint64_t queried = engine->stats().prefix_queries;
  r.prompt.push_back(1);
  r.prompt_logprobs = 1;
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(r, answer.fn()));
  answer.wait();
  EXPECT_EQ(answer.prompt().size(), 30U);
  EXPECT_EQ(answer.usage().cached_tokens, 0U);
  EXPECT_EQ(engine->stats().prefix_queries, queried);
}

TEST_F(PrefixReuseTest, EveryRequestIsAdmittedAsIfNothingWereKept) {
  // What is kept fills all slots and most positions; each of these needs nearly all there is.
  const auto engine = start({}, {.context_tokens = 100, .slots = 2, .total_positions = 100});
  for (std::uint64_t i = 0; i < 20; ++i) {
    const GenerateRequest small = request(random_ids(100 + i, 45), 5);
    EXPECT_EQ(ask(*engine, small).ids, fresh(small));
    const GenerateRequest large = request(random_ids(200 + i, 60 + i % 3), 37 - i % 3);
    EXPECT_EQ(ask(*engine, large).finish, FinishReason::kLength);
  }
  EXPECT_EQ(engine->stats().finished_error, 0U);
}

TEST_F(PrefixReuseTest, AStoppedEngineKeepsNothing) {
  const auto engine = start();
  ask(*engine, request({1, 2, 3}));
  EXPECT_EQ(observer.alive, 1U);
  engine->stop(std::chrono::milliseconds(0));
  EXPECT_EQ(observer.alive, 0U);
  EXPECT_EQ(engine->stats().kept_positions, 0U);
}

TEST_F(PrefixReuseTest, TasksRunBetweenStepsAndNoneIsLost) {
  const auto engine = start();
  ask(*engine, request({1, 2, 3}));
  std::promise<std::size_t> erased;
  ASSERT_TRUE(engine->between_steps([&](Slots& slots) { erased.set_value(slots.erase_all()); }));
  EXPECT_EQ(erased.get_future().get(), 1U);
  std::promise<void> entered;
  std::promise<void> go;
  ASSERT_TRUE(engine->between_steps([&](Slots&) {
    entered.set_value();
    go.get_future().wait();
  }));
  entered.get_future().wait();
  std::atomic<std::size_t> ran{0};
  for (std::size_t i = 0; i < kMaxSlotTasks; ++i) {
    ASSERT_TRUE(engine->between_steps([&](Slots&) { ++ran; }));
  }
  EXPECT_EQ(engine->between_steps([](Slots&) {}).error().code, Errc::kResourceLimit);
  go.set_value();
  engine->stop(std::chrono::milliseconds(0));
  EXPECT_EQ(ran, kMaxSlotTasks);
  EXPECT_EQ(engine->between_steps([](Slots&) {}).error().code, Errc::kUnavailable);
}

TEST_F(PrefixReuseTest, AWaitingRequestOfHigherPriorityStartsFirst) {
  std::promise<void> entered;
  std::promise<void> go;
  std::atomic<int> steps{0};
  observer.before_step = [&](std::span<const StepChunk>) {
    if (++steps == 1) {
      entered.set_value();
      go.get_future().wait();
    }
    return ok();
  };
  const auto engine = start({}, {.slots = 1});
  AnswerCollector running;
  ASSERT_TRUE(engine->submit(request({1}), running.fn()));
  entered.get_future().wait();
  std::vector<int> order;
  std::mutex mutex;
  AnswerCollector answers[4];
  const int priorities[4] = {0, 3, 9, 3};
  for (int i = 0; i < 4; ++i) {
    GenerateRequest r = request({2}, 1);
    r.priority = priorities[i];
    ASSERT_TRUE(engine->submit(r, [&, i, fn = answers[i].fn()](const Update& update) {
      if (update.finish) {
        const std::lock_guard lock(mutex);
        order.push_back(i);
      }
      fn(update);
    }));
  }
  go.set_value();
  for (AnswerCollector& answer : answers) {
    answer.wait();
  }
  EXPECT_EQ(order, (std::vector<int>{2, 1, 3, 0}));
  GenerateRequest wrong = request({1});
  wrong.priority = kMaxPriority + 1;
  EXPECT_EQ(engine->submit(wrong, [](const Update&) {}).error().message,
            "priority: expected 0 to 9, found 10");
}

}  // namespace
}  // namespace daybreak::engine
