// SPDX-License-Identifier: Apache-2.0
// Conversations of many threads on one engine, while an administrator looks at its slots, saves,
// restores and forgets what they keep: every answer is the one of an engine that keeps nothing.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"

namespace daybreak::engine {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kTurns = 30;

using Ids = std::vector<TokenId>;

Ids ask(Engine& engine, const Ids& prompt, std::size_t* cached) {
  GenerateRequest r;
  r.prompt = prompt;
  r.max_tokens = 1 + prompt.size() % 7;
  r.sampling.seed = prompt.size();
  AnswerCollector answer;
  EXPECT_TRUE(engine.submit(r, answer.fn()));
  answer.wait();
  if (cached != nullptr) {
    *cached += answer.usage().cached_tokens;
  }
  return answer.ids();
}

std::vector<Ids> conversation(Engine& engine, std::uint64_t seed, std::size_t* cached) {
  Rng rng(seed);
  Ids prompt;
  std::vector<Ids> answers;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    for (std::uint32_t more = 1 + rng.below(9); more > 0; --more) {
      prompt.push_back(rng.below(50));
    }
    answers.push_back(ask(engine, prompt, cached));
    prompt.insert(prompt.end(), answers.back().begin(), answers.back().end());
  }
  return answers;
}

void administrate(Engine& engine, std::uint64_t seed) {
  Rng rng(seed);
  std::promise<void> done;
  const std::size_t from = rng.below(3);
  const std::size_t to = rng.below(3);
  const std::uint32_t what = rng.below(8);
  ASSERT_TRUE(engine.between_steps([&, from, to, what](Slots& slots) {
    EXPECT_EQ(slots.info().size(), 3U);
    if (what == 0) {
      slots.erase_all();
    } else if (what == 1) {
      (void)slots.erase(from);
    } else if (auto saved = slots.save(from)) {
      (void)slots.restore(to, *std::move(saved));  // not to one that is busy
    }
    done.set_value();
  }));
  done.get_future().wait();
}

TEST(PrefixReuseThreads, AnswersAreThoseOfAnEngineThatKeepsNothingWhateverIsDoneToTheSlots) {
  FakeModel::Observer observer;
  const FakeModelOptions model{.slots = 3, .total_positions = 900};
  const auto plain = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer),
                                    {.prefix_reuse = PrefixReuse::kOff});
  std::array<std::vector<Ids>, kThreads> expected;
  for (std::size_t t = 0; t < kThreads; ++t) {
    expected[t] = conversation(*plain, t, nullptr);
  }
  FakeModel::Observer watched;
  const auto engine = *Engine::start(std::make_unique<FakeModel>(model, watched), {});
  std::array<std::size_t, kThreads> cached{};
  std::atomic<bool> over{false};
  std::thread administrator([&] {
    for (std::uint64_t seed = 0; !over; ++seed) {
      administrate(*engine, seed);
    }
  });
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back(
          [&, t] { EXPECT_EQ(conversation(*engine, t, &cached[t]), expected[t]) << t; });
    }
  }
  over = true;
  administrator.join();
  EXPECT_EQ(engine->stats().prefix_hits, cached[0] + cached[1] + cached[2] + cached[3]);
  EXPECT_EQ(engine->stats().positions_reserved, 0U);
  engine->stop(std::chrono::milliseconds(0));
  EXPECT_EQ(watched.alive, 0U);
}

}  // namespace
}  // namespace daybreak::engine
