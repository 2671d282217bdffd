// SPDX-License-Identifier: Apache-2.0
// Who hears an engine's cache events knows what a prompt can start from.

#include <gtest/gtest.h>

#include "base/rng.h"
#include "cache/event_mirror.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"

namespace daybreak::engine {
namespace {

using cache::testing::EventMirror;
using Ids = std::vector<TokenId>;

class CacheEvents : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> start(std::size_t positions) {
    EngineOptions options;
    options.step_tokens = 40;
    options.cache_events = mirror_;
    return *Engine::start(
        std::make_unique<FakeModel>(
            FakeModelOptions{
                .context_tokens = 1000, .slots = 2, .total_positions = positions, .checkpoints = 5},
            observer_),
        options);
  }

  // Returns how many tokens of the prompt were not computed.
  static std::size_t ask(Engine& engine, const Ids& prompt, const std::string& isolation) {
    GenerateRequest r;
    r.prompt = prompt;
    r.max_tokens = 3;
    r.isolation = isolation;
    AnswerCollector answer;
    EXPECT_TRUE(engine.submit(r, answer.fn()));
    answer.wait();
    return answer.usage().cached_tokens;
  }

  FakeObserver observer_;
  std::shared_ptr<EventMirror> mirror_ = std::make_shared<EventMirror>();
};

// A prompt ends in the middle of a block, and no sequence is kept that it goes on from: it starts
// from the cache, or afresh.
Ids prompt_of(Rng& rng, std::size_t blocks) {
  Ids ids;
  for (std::size_t block = 0; block < blocks; ++block) {
    ids.insert(ids.end(), cache::kBlockTokens, rng.below(2));
  }
  for (int i = 0; i < 20; ++i) {
    ids.push_back(rng.below(50));
  }
  return ids;
}

TEST_F(CacheEvents, TellWhatAPromptCanStartFromWhateverIsEvicted) {
  std::size_t hits = 0;
  {
    const auto engine = start(1400);
    Rng rng(1);
    for (int i = 0; i < 120; ++i) {
      const Ids prompt = prompt_of(rng, 1 + rng.below(6));
      const std::string owner = rng.below(3) == 0 ? "other" : "";
      // On the engine's thread, so that nothing happens meanwhile.
      std::promise<std::size_t> usable;
      ASSERT_TRUE(
          engine->between_steps([&](Slots&) { usable.set_value(mirror_->usable(prompt, owner)); }));
      const std::size_t expected = usable.get_future().get();
      ASSERT_EQ(ask(*engine, prompt, owner), expected) << i;
      hits += expected > 0;
    }
    EXPECT_GT(engine->stats().evicted_blocks, 20U);
  }
  EXPECT_GT(hits, 30U);
  EXPECT_EQ(mirror_->clears, 2U) << "at the start and at the end";
  EXPECT_EQ(mirror_->blocks(), 0U);
  EXPECT_GT(mirror_->flushes, 100U);
}

TEST_F(CacheEvents, ForgettingAllIsOneEvent) {
  const auto engine = start(3000);
  Rng rng(2);
  ask(*engine, prompt_of(rng, 3), "");
  std::promise<void> done;
  ASSERT_TRUE(engine->between_steps([&](Slots& slots) {
    EXPECT_EQ(mirror_->blocks(), 3U);
    slots.erase_all();
    EXPECT_EQ(mirror_->clears, 2U);
    done.set_value();
  }));
  done.get_future().wait();
}

}  // namespace
}  // namespace daybreak::engine
