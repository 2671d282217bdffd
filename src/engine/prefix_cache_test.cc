// SPDX-License-Identifier: Apache-2.0
// What requests take over from the prefix cache, and what it never costs. That answers stay the
// same is in prefix_cache_property_test.cc.

#include "engine/prefix_cache.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/slot_table.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

Ids random_ids(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  Ids ids(count);
  for (TokenId& id : ids) {
    id = rng.below(50);
  }
  return ids;
}

Ids operator+(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Requests of one slot, so that what is kept of the last one is all that is kept.
class PrefixCacheTest : public ::testing::Test {
 protected:
  void start(FakeModelOptions model, EngineOptions options = {}) {
    model.context_tokens = 2000;
    engine_ = *Engine::start(std::make_unique<FakeModel>(model, observer_), options);
  }
  void SetUp() override { start({.slots = 1, .checkpoints = 20}); }

  struct Asked {
    Ids answer;
    std::size_t cached = 0;
    FinishReason finish{};
  };
  Asked ask(const Ids& prompt, std::size_t max_tokens = 1, const std::string& isolation = "") {
    GenerateRequest r;
    r.prompt = prompt;
    r.max_tokens = max_tokens;
    r.isolation = isolation;
    AnswerCollector answer;
    EXPECT_TRUE(engine_->submit(r, answer.fn()));
    const FinishReason finish = answer.wait();
    return {answer.ids(), answer.usage().cached_tokens, finish};
  }
  std::size_t cached(const Ids& prompt) { return ask(prompt).cached; }
  // Something else, so that the sequence of the last request is not kept any longer.
  void forget_kept() { ask(random_ids(99, 5)); }
  void between_steps(const std::function<void(Slots&)>& task) {
    // What a task has changed is recorded before the next one runs.
    for (const auto& each : {task, std::function<void(Slots&)>([](Slots&) {})}) {
      std::promise<void> done;
      ASSERT_TRUE(engine_->between_steps([&](Slots& slots) {
        each(slots);
        done.set_value();
      }));
      done.get_future().wait();
    }
  }

  FakeModel::Observer observer_;
  std::unique_ptr<Engine> engine_;
};

const Ids kSystem = random_ids(1, 300);

TEST_F(PrefixCacheTest, TheThirdPromptWithABeginningStartsWhereTheFirstTwoParted) {
  EXPECT_EQ(cached(kSystem + random_ids(2, 100)), 0U);
  EXPECT_EQ(cached(kSystem + random_ids(3, 100)), 0U) << "it finds out that it is shared";
  EXPECT_EQ(cached(kSystem + random_ids(4, 100)), 256U);
  EXPECT_EQ(cached(kSystem), 256U);
  EXPECT_EQ(cached(random_ids(5, 300)), 0U);
}

TEST_F(PrefixCacheTest, TheSamePromptStartsAtItsLastBlockEnd) {
  for (const std::size_t tokens : {1U, 64U, 65U, 128U, 129U, 500U}) {
    const Ids prompt = random_ids(tokens, tokens);
    EXPECT_EQ(cached(prompt), 0U);
    forget_kept();
    EXPECT_EQ(cached(prompt), (tokens - 1) / 64 * 64) << "the last id is always fed";
  }
}

TEST_F(PrefixCacheTest, AConversationGoesOnFromTheEndOfItsAnswer) {
  const Ids prompt = random_ids(6, 100);
  const Ids answer = ask(prompt, 300).answer;
  forget_kept();
  const Ids next = prompt + answer;
  EXPECT_EQ(cached(next + random_ids(7, 10)), 384U);
  EXPECT_EQ(engine_->stats().checkpoints, 2U) << "of the prompt and of the end of its answer";
}

TEST_F(PrefixCacheTest, CheckpointsLieAtEveryIntervalOfAPrompt) {
  start({.slots = 1, .checkpoints = 20}, {.step_tokens = 300, .checkpoint_interval = 256});
  const Ids prompt = random_ids(8, 1000);
  ask(prompt);
  EXPECT_EQ(engine_->stats().checkpoints, 4U) << "256, 512, 768 and 960";
  for (const std::size_t shared : {255U, 256U, 511U, 520U, 800U, 959U, 960U}) {
    const Ids beginning(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(shared));
    EXPECT_EQ(cached(beginning + random_ids(shared, 5)),
              std::min(shared / 256 * 256, std::size_t{768}) + (shared >= 960 ? 192 : 0));
    between_steps([](Slots& slots) { EXPECT_GT(slots.info().size(), 0U); });
    // What the question itself left behind must not help the next one.
    start({.slots = 1, .checkpoints = 20}, {.step_tokens = 300, .checkpoint_interval = 256});
    ask(prompt);
  }
}

TEST_F(PrefixCacheTest, ScopesShareNothing) {
  const Ids prompt = random_ids(9, 200);
  ask(prompt, 1, "a");
  EXPECT_EQ(ask(prompt, 1, "b").cached, 0U);
  EXPECT_EQ(ask(prompt, 1, "").cached, 0U);
  EXPECT_EQ(ask(prompt, 1, "a").cached, 192U);
}

TEST_F(PrefixCacheTest, ScopesShareNoAnswersEither) {
  const Ids prompt = random_ids(9, 10);  // no block of its own: the first one ends in the answer
  const Ids turn = prompt + ask(prompt, 100, "a").answer + random_ids(10, 5);
  forget_kept();
  EXPECT_EQ(ask(turn, 1, "").cached, 0U);
  EXPECT_EQ(ask(turn, 1, "b").cached, 0U);
  EXPECT_EQ(ask(turn, 1, "a").cached, 64U);
}

TEST_F(PrefixCacheTest, ABlockIsHeldOnce) {
  start({.slots = 1, .total_positions = 2000, .checkpoints = 20});
  ask(kSystem + random_ids(10, 20));
  const std::size_t blocks = engine_->stats().cached_blocks;
  ask(kSystem + random_ids(11, 20));  // computes all again
  EXPECT_EQ(engine_->stats().cached_blocks, blocks + 1) << "256 to 320";
  EXPECT_EQ(engine_->stats().positions_reserved, 0U);
}

TEST_F(PrefixCacheTest, WhatIsCachedNeverCostsARequestItsPlace) {
  start({.slots = 2, .total_positions = 1000, .checkpoints = 20});
  for (std::uint64_t seed = 20; seed < 30; ++seed) {
    EXPECT_EQ(ask(random_ids(seed, 400)).finish, FinishReason::kLength);
  }
  EXPECT_EQ(ask(random_ids(30, 999)).finish, FinishReason::kLength) << "all of the memory";
  const Stats stats = engine_->stats();
  EXPECT_GT(stats.evicted_blocks, 0U);
  EXPECT_EQ(stats.block_times.lifetime.total, stats.evicted_blocks);
  EXPECT_EQ(stats.block_times.idle_before_eviction.total, stats.evicted_blocks);
}

TEST(PrefixCacheTable, NothingGoesForARequestThatMustWaitAllTheSame) {
  FakeModel::Observer observer;
  FakeModel model({.context_tokens = 2000, .slots = 2, .total_positions = 1000, .checkpoints = 9},
                  observer);
  SlotTable table(model, {});
  const auto job_of = [](std::uint64_t seed, std::size_t tokens) {
    GenerateRequest r;
    r.prompt = random_ids(seed, tokens);
    r.max_tokens = 5;
    return std::make_unique<Job>(RequestId{seed}, r, [](const Update&) {}, Clock::TimePoint{});
  };
  const auto done = job_of(31, 200);
  SlotTable::Place place = *table.take(*done, done->positions());
  done->start(place.slot, std::move(place.sequence), 0, {}, 0);
  while (done->reading()) {
    const auto ids = done->pending().first(SlotTable::cut(*done, done->pending().size()));
    ASSERT_TRUE(model.forward(std::vector<StepChunk>{{&done->sequence(), ids, {}}}));
    done->consume(ids.size());
    table.advanced(*done);
  }
  table.give_back(done->slot(), done->leave());
  EXPECT_EQ(table.cache_stats().blocks, 3U);

  const auto runs = job_of(32, 500);
  const auto waits = job_of(33, 600);
  SlotTable::Place of_runs = *table.take(*runs, runs->positions());
  const auto none =
      table.take(*waits, waits->positions());  // 500 are in use: giving up 200 does not do
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::kResourceLimit);
  EXPECT_EQ(table.cache_stats().blocks, 3U);
  EXPECT_EQ(table.kept(), 1U);
  of_runs.sequence.reset();
  table.give_back(of_runs.slot, {});
  const auto all = job_of(34, 990);
  EXPECT_TRUE(table.take(*all, all->positions()));
  EXPECT_EQ(table.cache_stats().evicted_blocks, 3U);
}

TEST_F(PrefixCacheTest, FewCheckpointsAreGivenToWhatSavesMost) {
  start({.slots = 1, .checkpoints = 2});
  const Ids one = random_ids(40, 700);
  ask(one);
  for (std::uint64_t seed = 41; seed < 45; ++seed) {
    ask(random_ids(seed, 70));
  }
  EXPECT_EQ(cached(one), 640U);
  EXPECT_LE(engine_->stats().checkpoints, 2U);
}

TEST_F(PrefixCacheTest, WithoutCheckpointsNothingIsCached) {
  start({.slots = 1, .checkpoints = 0});
  ask(kSystem);
  forget_kept();
  EXPECT_EQ(cached(kSystem), 0U);
  EXPECT_EQ(engine_->stats().cached_blocks, 0U);
}

TEST_F(PrefixCacheTest, WithReuseOffNothingIsCached) {
  start({.slots = 1, .checkpoints = 9}, {.prefix_reuse = PrefixReuse::kOff});
  ask(kSystem);
  EXPECT_EQ(cached(kSystem), 0U);
  EXPECT_EQ(engine_->stats().cached_blocks, 0U);
}

TEST_F(PrefixCacheTest, RequestsForLogProbabilitiesOfThePromptFillItAndDoNotReadIt) {
  GenerateRequest r;
  r.prompt = kSystem;
  r.max_tokens = 1;
  r.prompt_logprobs = 0;
  for (int i = 0; i < 2; ++i) {
    AnswerCollector answer;
    EXPECT_TRUE(engine_->submit(r, answer.fn()));
    answer.wait();
    EXPECT_EQ(answer.usage().cached_tokens, 0U);
    EXPECT_EQ(answer.prompt().size(), kSystem.size() - 1);
  }
  forget_kept();
  EXPECT_EQ(cached(kSystem), 256U);
}

TEST_F(PrefixCacheTest, WhatBeginsAsAFailedRequestIsForgotten) {
  ask(kSystem + random_ids(50, 10));
  observer_.edit_logits = [](const Sequence&, std::span<float> row) {
    row[0] = std::numeric_limits<float>::quiet_NaN();
  };
  EXPECT_EQ(ask(kSystem + random_ids(51, 10)).finish, FinishReason::kError);
  observer_.edit_logits = nullptr;
  EXPECT_EQ(engine_->stats().cached_blocks, 0U);
  EXPECT_EQ(cached(kSystem + random_ids(50, 10)), 0U);
}

TEST_F(PrefixCacheTest, ForgettingAllGivesAllMemoryBack) {
  ask(kSystem, 100);
  ask(kSystem + random_ids(60, 100), 100);
  between_steps([](Slots& slots) { slots.erase_all(); });
  EXPECT_EQ(engine_->stats().cached_blocks, 0U);
  EXPECT_EQ(engine_->stats().checkpoints, 0U);
  EXPECT_EQ(observer_.checkpoints, 0U);
  EXPECT_EQ(observer_.alive, 0U);
  EXPECT_EQ(cached(kSystem), 0U);
}

TEST_F(PrefixCacheTest, NothingOfAnOwnerWhoIsNotServedStays) {
  std::atomic<bool> served = true;
  start({.slots = 1, .checkpoints = 9},
        {.owner_valid = [&](const std::string& who) { return who != "gone" || served; }});
  ask(kSystem, 1, "gone");
  ask(kSystem, 1, "stays");
  const std::size_t both = engine_->stats().cached_blocks;
  served = false;
  between_steps([](Slots& slots) { slots.erase_unwanted(); });
  EXPECT_EQ(engine_->stats().cached_blocks, both / 2);
  EXPECT_EQ(ask(kSystem, 1, "stays").cached, 256U);
  engine_.reset();
}

}  // namespace
}  // namespace daybreak::engine
