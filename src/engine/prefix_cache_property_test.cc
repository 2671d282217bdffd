// SPDX-License-Identifier: Apache-2.0
// Prompts that branch from one another, at random, some cancelled: with little memory and few
// checkpoints, whatever is cached, evicted and started from, every answer has the bits it has from
// an engine that caches nothing, and in the end all memory is back.

#include <gtest/gtest.h>

#include <cstdio>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/model_runner.h"
#include "testing/paths.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

// Prompts made of a few segments, so that many begin alike and part at any place.
class Prompts {
 public:
  Prompts(std::uint64_t seed, std::size_t vocab) : rng_(seed), vocab_(vocab) {}

  GenerateRequest next() {
    GenerateRequest r;
    for (std::size_t i = 1 + rng_.below(4); i > 0; --i) {
      append_segment(rng_.below(2), r.prompt);
    }
    r.prompt.resize(r.prompt.size() - rng_.below(3) * rng_.below(30));
    if (rng_.below(3) == 0) {
      r.prompt.push_back(rng_.below(static_cast<std::uint32_t>(vocab_)));
    }
    r.isolation = rng_.below(4) == 0 ? "other" : "";
    r.max_tokens = 1 + rng_.below(90);
    r.sampling.temperature = rng_.below(2) == 0 ? 0.0 : 1.0;
    r.sampling.seed = rng_.below(3);
    r.sampling.logprobs = 0;
    return r;
  }
  bool coin(std::uint32_t in) { return rng_.below(in) == 0; }

 private:
  void append_segment(std::size_t which, Ids& ids) const {
    constexpr std::array kLengths = {64, 97};
    Rng own(which + 1000);
    for (int i = 0; i < kLengths.at(which); ++i) {
      ids.push_back(own.below(static_cast<std::uint32_t>(vocab_)));
    }
  }
  Rng rng_;
  std::size_t vocab_;
};

struct Answer {
  std::vector<TokenLogprob> tokens;
  std::size_t cached = 0;
  bool cancelled = false;
};

// Submits all at once, cancels those of `cancel` once they have an answer of two tokens, and waits.
std::vector<Answer> ask(Engine& engine, const std::vector<GenerateRequest>& requests,
                        const std::vector<bool>& cancel) {
  std::vector<Answer> answers(requests.size());
  std::vector<RequestId> ids(requests.size());
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t left = requests.size();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::unique_lock lock(mutex);
    ids[i] = *engine.submit(requests[i], [&, i](const Update& update) {
      const std::lock_guard inner(mutex);
      for (const GeneratedToken& token : update.tokens) {
        answers[i].tokens.push_back({token.id, token.logprob});
      }
      answers[i].cached = update.usage.cached_tokens;
      if (cancel[i] && answers[i].tokens.size() >= 2 && !update.finish) {
        engine.cancel(ids[i]);
      }
      if (update.error != nullptr) {
        ADD_FAILURE() << update.error->message;
      }
      if (update.finish) {
        answers[i].cancelled = update.finish == FinishReason::kCancelled;
        --left;
        changed.notify_all();
      }
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == 0; });
  return answers;
}

struct Sums {
  std::size_t answers = 0;
  std::size_t cached = 0;
  std::size_t evicted = 0;
};

// `rounds` batches of up to five requests, to `engine` and to `plain`.
void compare(Engine& engine, Engine& plain, Prompts& prompts, int rounds, Sums& sums) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<GenerateRequest> requests;
    std::vector<bool> cancel;
    do {
      requests.push_back(prompts.next());
      cancel.push_back(prompts.coin(5));
    } while (requests.size() < 5 && !prompts.coin(3));
    const auto got = ask(engine, requests, cancel);
    const auto expected = ask(plain, requests, std::vector<bool>(requests.size()));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_LE(got[i].tokens.size(), expected[i].tokens.size());
      if (!got[i].cancelled) {
        ASSERT_EQ(got[i].tokens.size(), expected[i].tokens.size());
      }
      ASSERT_TRUE(
          std::equal(got[i].tokens.begin(), got[i].tokens.end(), expected[i].tokens.begin()))
          << "prompt of " << requests[i].prompt.size() << ", " << got[i].cached << " cached";
      ASSERT_LT(got[i].cached, requests[i].prompt.size());
      sums.cached += got[i].cached;
      ++sums.answers;
    }
  }
  sums.evicted += engine.stats().evicted_blocks + engine.stats().evicted_checkpoints;
}

void forget_all(Engine& engine) {
  for (int i = 0; i < 2; ++i) {  // what the first changes is recorded before the second
    std::promise<void> done;
    ASSERT_TRUE(engine.between_steps([&](Slots& slots) {
      slots.erase_all();
      done.set_value();
    }));
    done.get_future().wait();
  }
  EXPECT_EQ(engine.stats().cached_blocks, 0U);
  EXPECT_EQ(engine.stats().positions_reserved, 0U);
}

TEST(PrefixCacheProperty, AnswersOfAModelThatNoticesEveryMistake) {
  Sums sums;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    FakeModel::Observer own;
    const auto plain = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, own),
                                      {.prefix_reuse = PrefixReuse::kOff});
    FakeModel::Observer observer;
    const FakeModelOptions model{.slots = 1 + seed % 3,
                                 .total_positions = 700 + seed % 5 * 200,
                                 .checkpoints = 1 + seed % 7};
    {
      const auto engine = *Engine::start(
          std::make_unique<FakeModel>(model, observer),
          {.step_tokens = 1 + seed * 13 % 150, .checkpoint_interval = seed % 4 * 64});
      Prompts prompts(seed, 50);
      compare(*engine, *plain, prompts, 12, sums);
      if (::testing::Test::HasFatalFailure()) {
        return;
      }
      forget_all(*engine);
      EXPECT_EQ(observer.alive, 0U);
      EXPECT_EQ(observer.checkpoints, 0U);
    }
  }
  EXPECT_GT(sums.cached, 10'000U);
  EXPECT_GT(sums.evicted, 1'000U);
}

TEST(PrefixCacheProperty, AnswersOfRealModelsHaveTheSameBitsWithAndWithout) {
  Sums sums;
  for (const char* name : {"testdata/checkpoints/k3-all-on", "testdata/checkpoints/all-kda-bf16",
                           "testdata/checkpoints/all-mla", "testdata/checkpoints/odd-sizes"}) {
    SCOPED_TRACE(name);
    auto loaded = model::Model::load(testing::source_path(name));
    ASSERT_TRUE(loaded) << loaded.error().message;
    const std::shared_ptr<const model::Model> model = *std::move(loaded);
    const auto plain = *Engine::start(*ModelRunner::create(model, {.max_sequences = 5}),
                                      {.prefix_reuse = PrefixReuse::kOff});
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      auto runner = *ModelRunner::create(model, {.threads = 1 + seed,
                                                 .max_sequences = 2 + seed,
                                                 .max_positions = 1024,
                                                 .max_checkpoints = 3 + 4 * seed});
      const auto engine = *Engine::start(
          std::move(runner), {.step_tokens = 33 + 64 * seed, .checkpoint_interval = 64 * seed});
      Prompts prompts(seed, model->config().vocab_size);
      compare(*engine, *plain, prompts, 8, sums);
      if (::testing::Test::HasFatalFailure()) {
        return;
      }
      forget_all(*engine);
    }
  }
  EXPECT_GT(sums.cached, 1'000U);
  EXPECT_GT(sums.evicted, 50U);
  std::printf(
      "PROOF prefix_cache_bits: %zu answers equal, %zu prompt tokens reused, %zu evictions\n",
      sums.answers, sums.cached, sums.evicted);
}

}  // namespace
}  // namespace daybreak::engine
