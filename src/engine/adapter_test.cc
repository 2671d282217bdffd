// SPDX-License-Identifier: Apache-2.0
// Requests with LoRA adapters: whose states they may go on from, and what the engine tells of them.

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "cache/event_mirror.h"
#include "cache/scope.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_adapter.h"
#include "engine/fake_model.h"

namespace daybreak::engine {
namespace {

struct AdapterTest : ::testing::Test {
  struct Answered {
    std::vector<TokenId> ids;
    std::size_t cached = 0;
  };

  std::unique_ptr<Engine> start(std::size_t checkpoints, EngineOptions options = {}) {
    return *Engine::start(
        std::make_unique<FakeModel>(FakeModelOptions{.checkpoints = checkpoints}, observer),
        options);
  }
  static GenerateRequest request(const AdapterPtr& adapter, std::size_t length = 201) {
    GenerateRequest r;
    Rng rng(3);
    r.prompt.resize(length);
    for (TokenId& id : r.prompt) {
      id = rng.below(50);
    }
    r.max_tokens = 5;
    r.isolation = "owner\n";
    r.adapter = adapter;
    return r;
  }
  static Answered ask(Engine& engine, const GenerateRequest& r) {
    AnswerCollector answer;
    EXPECT_TRUE(engine.submit(r, answer.fn()));
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
    return {answer.ids(), answer.usage().cached_tokens};
  }
  // The answer of an engine that shares nothing.
  static std::vector<TokenId> alone(const GenerateRequest& r) {
    FakeObserver own;
    const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, own),
                                       {.prefix_reuse = PrefixReuse::kOff});
    return ask(*engine, r).ids;
  }

  FakeObserver observer;
  const AdapterPtr first = fake_adapter("sql", "d1");
  const AdapterPtr reloaded = fake_adapter("sql", "d2");  // the same name, other matrices
  const AdapterPtr other = fake_adapter("chat", "d3");
};

TEST_F(AdapterTest, StatesAreSharedWithinOneAdapterOnly) {
  // With checkpoints from the prefix cache, without from kept sequences.
  for (const std::size_t checkpoints : {0U, 8U}) {
    const auto engine = start(checkpoints);
    for (const AdapterPtr& adapter : {AdapterPtr(), first, reloaded, other}) {
      const Answered fresh = ask(*engine, request(adapter));
      EXPECT_EQ(fresh.cached, 0U) << "another adapter's state";
      EXPECT_EQ(fresh.ids, alone(request(adapter)));
    }
    for (const AdapterPtr& adapter : {AdapterPtr(), first, reloaded, other}) {
      GenerateRequest next = request(adapter);
      const std::vector<TokenId> said = alone(next);
      next.prompt.insert(next.prompt.end(), said.begin(), said.end());
      next.prompt.insert(next.prompt.end(), 3, 7);
      const Answered answer = ask(*engine, next);
      EXPECT_GT(answer.cached, 150U) << "its own state";
      EXPECT_EQ(answer.ids, alone(next));
    }
  }
}

TEST_F(AdapterTest, AnswersInOneBatchAreThoseAlone) {
  const auto engine = start(0, {.step_tokens = 16});
  std::vector<GenerateRequest> requests;
  std::vector<std::unique_ptr<AnswerCollector>> answers;
  for (const AdapterPtr& adapter : {first, AdapterPtr(), other, reloaded, first}) {
    requests.push_back(request(adapter, 20 + 7 * requests.size()));
    requests.back().max_tokens = 30;
    answers.push_back(std::make_unique<AnswerCollector>());
    ASSERT_TRUE(engine->submit(requests.back(), answers.back()->fn()));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i]->wait();
    EXPECT_EQ(answers[i]->ids(), alone(requests[i])) << i;
  }
}

TEST_F(AdapterTest, APreemptedRequestGoesOnWithItsAdapter) {
  const auto engine = *Engine::start(
      std::make_unique<FakeModel>(
          FakeModelOptions{.slots = 3, .total_positions = 300, .checkpoints = 4}, observer),
      EngineOptions{.answer_reserve = 8});
  std::vector<GenerateRequest> requests;
  std::vector<std::unique_ptr<AnswerCollector>> answers;
  for (const AdapterPtr& adapter : {first, reloaded, AdapterPtr()}) {
    requests.push_back(request(adapter, 70));
    requests.back().max_tokens = 120;
    answers.push_back(std::make_unique<AnswerCollector>());
    ASSERT_TRUE(engine->submit(requests.back(), answers.back()->fn()));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i]->wait(), FinishReason::kLength);
    EXPECT_EQ(answers[i]->ids(), alone(requests[i])) << i;
  }
  EXPECT_GT(engine->stats().preemptions, 0U);
}

TEST_F(AdapterTest, ASavedSlotBelongsToItsAdapter) {
  const auto engine = start(0);
  const GenerateRequest r = request(first);
  const Answered said = ask(*engine, r);
  const auto on_engine = [&](const std::function<void(Slots&)>& task) {
    std::promise<void> done;
    ASSERT_TRUE(engine->between_steps([&](Slots& slots) {
      task(slots);
      done.set_value();
    }));
    done.get_future().wait();
  };
  SavedSequence saved;
  on_engine([&](Slots& slots) {
    for (const SlotInfo& slot : slots.info()) {
      if (slot.state == SlotState::kKept) {
        saved = *slots.save(slot.slot);
      }
    }
    slots.erase_all();
  });
  EXPECT_EQ(saved.text,
            cache::make_scope({.isolation = "owner\n", .lora_name = "sql", .lora_digest = "d1"}));
  const auto cached_after_restore = [&](const AdapterPtr& adapter) {
    on_engine([&](Slots& slots) {
      slots.erase_all();
      EXPECT_TRUE(slots.restore(0, saved));
    });
    GenerateRequest next = r;
    next.adapter = adapter;
    next.prompt.insert(next.prompt.end(), said.ids.begin(), said.ids.end());
    next.prompt.push_back(1);
    const Answered answer = ask(*engine, next);
    EXPECT_EQ(answer.ids, alone(next));
    return answer.cached;
  };
  EXPECT_EQ(cached_after_restore(nullptr), 0U);
  EXPECT_EQ(cached_after_restore(reloaded), 0U);
  EXPECT_EQ(cached_after_restore(first), saved.ids.size());
}

TEST_F(AdapterTest, TheOwnerIsAskedAboutWithoutTheAdapter) {
  std::vector<std::string> asked;
  const auto engine = start(8, {.owner_valid = [&](const std::string& isolation) {
                              asked.push_back(isolation);
                              return true;
                            }});
  ask(*engine, request(first));
  engine->stop(std::chrono::seconds(60));
  ASSERT_FALSE(asked.empty());
  for (const std::string& isolation : asked) {
    EXPECT_EQ(isolation, "owner\n");
  }
}

TEST_F(AdapterTest, StatsNameWhoRunsAndWhoWaits) {
  std::promise<void> go;
  const auto held = go.get_future().share();
  std::promise<void> entered;
  std::atomic<bool> first_step{true};
  observer.before_step = [&](std::span<const StepChunk>) {
    if (first_step.exchange(false)) {
      entered.set_value();
    }
    held.wait();
    return ok();
  };
  const auto engine = *Engine::start(
      std::make_unique<FakeModel>(FakeModelOptions{.slots = 1}, observer), EngineOptions{});
  AnswerCollector running;
  AnswerCollector waiting;
  AnswerCollector plain;
  ASSERT_TRUE(engine->submit(request(first), running.fn()));
  entered.get_future().wait();
  ASSERT_TRUE(engine->submit(request(other), waiting.fn()));
  ASSERT_TRUE(engine->submit(request(nullptr), plain.fn()));
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.running_adapters, std::vector<std::string>{"sql"});
  EXPECT_EQ(stats.queued_adapters, std::vector<std::string>{"chat"});
  go.set_value();
  running.wait();
  waiting.wait();
  plain.wait();
  EXPECT_TRUE(engine->stats().running_adapters.empty());
}

TEST_F(AdapterTest, AnAdapterLivesAsLongAsARequestThatHasIt) {
  auto mine = fake_adapter("mine", "d9");
  const std::weak_ptr<const model::LoraAdapter> watched = mine;
  const auto engine = start(8);
  GenerateRequest r = request(mine);
  mine.reset();
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(std::move(r), answer.fn()));
  answer.wait();
  engine->stop(std::chrono::seconds(60));
  EXPECT_TRUE(watched.expired()) << "kept states need no adapter";
}

}  // namespace
}  // namespace daybreak::engine
