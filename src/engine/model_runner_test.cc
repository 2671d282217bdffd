// SPDX-License-Identifier: Apache-2.0
// The engine with a real model: every checkpoint has another set of switches, so a state that leaks
// from one request to another, or a result that depends on the batch, shows in one of them.

#include "engine/model_runner.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "testing/paths.h"
#include "testing/temporary_directory.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

std::shared_ptr<const model::Model> load(const std::string& name) {
  auto loaded = model::Model::load(testing::source_path("testdata/checkpoints/" + name));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? std::shared_ptr<const model::Model>(*std::move(loaded)) : nullptr;
}

GenerateRequest request(const model::Model& model, std::uint64_t which) {
  GenerateRequest r;
  Rng rng(which + 100);
  r.prompt.resize(1 + 11 * which);
  for (TokenId& id : r.prompt) {
    id = rng.below(static_cast<std::uint32_t>(model.config().vocab_size));
  }
  r.max_tokens = 6 + which;
  r.sampling.seed = which;
  r.sampling.logprobs = 0;
  return r;
}

// One sequence, one id at a time, in a pool of its own.
Ids alone(const std::shared_ptr<const model::Model>& model, const GenerateRequest& r) {
  auto runner = *ModelRunner::create(model, {.max_sequences = 1, .max_positions = 256});
  const auto sequence = *runner->acquire(r.prompt.size() + r.max_tokens);
  std::vector<float> logits(runner->vocab_size());
  Sampler sampler(r);
  SamplerScratch scratch;
  Ids answer;
  Ids feed = r.prompt;
  while (answer.size() < r.max_tokens) {
    for (const TokenId id : feed) {
      EXPECT_TRUE(runner->forward(std::vector<StepChunk>{{sequence.get(), {&id, 1}, logits}}));
    }
    answer.push_back(sampler.next(logits, scratch)->id);
    feed = {answer.back()};
  }
  return answer;
}

constexpr std::array kCheckpoints = {"k3-all-on", "kimi-linear", "odd-sizes", "all-kda-bf16",
                                     "all-mla"};

TEST(ModelRunner, AnswersEqualThoseAloneForAnyThreadsBudgetAndCompany) {
  std::size_t equal = 0;
  std::size_t answered = 0;
  for (const char* name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load(name);
    ASSERT_NE(model, nullptr);
    std::array<Ids, 5> expected;
    for (std::uint64_t i = 0; i < 5; ++i) {
      expected[i] = alone(model, request(*model, i));
    }
    for (const auto& [threads, step_tokens] :
         {std::pair{1U, 512U}, {2U, 7U}, {3U, 64U}, {1U, 1U}}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(step_tokens));
      auto runner = *ModelRunner::create(
          model, {.threads = threads, .max_sequences = 3, .max_positions = 512});
      const auto engine = *Engine::start(std::move(runner), {.step_tokens = step_tokens});
      // Twice: the second round runs in slots and pages that the first has used and freed.
      for (int round = 0; round < 2; ++round) {
        std::array<AnswerCollector, 5> answers;
        for (std::uint64_t i = 0; i < 5; ++i) {
          ASSERT_TRUE(engine->submit(request(*model, i), answers[i].fn()));
        }
        for (std::uint64_t i = 0; i < 5; ++i) {
          EXPECT_EQ(answers[i].wait(), FinishReason::kLength);
          EXPECT_EQ(answers[i].ids(), expected[i]) << "request " << i << " round " << round;
          equal += answers[i].ids() == expected[i] ? 1 : 0;
          ++answered;
        }
      }
    }
  }
  std::printf("PROOF engine_bits: %zu of %zu answers equal, %zu checkpoints, 1/2/3 threads\n",
              equal, answered, kCheckpoints.size());
}

TEST(ModelRunner, CancelledAndPoisonedStatesNeverReachAnotherAnswer) {
  const auto model = load("k3-all-on");
  ASSERT_NE(model, nullptr);
  const GenerateRequest canary = request(*model, 2);
  const Ids expected = alone(model, canary);
  auto runner = *ModelRunner::create(model, {.max_sequences = 2, .max_positions = 256});
  const auto engine = *Engine::start(std::move(runner), {.step_tokens = 5});
  for (std::uint64_t round = 0; round < 12; ++round) {
    AnswerCollector noise;
    AnswerCollector answer;
    const RequestId id = *engine->submit(request(*model, 1 + round % 4), noise.fn());
    ASSERT_TRUE(engine->submit(canary, answer.fn()));
    if (round % 2 == 0) {
      engine->cancel(id);
    }
    answer.wait();
    noise.wait();
    EXPECT_EQ(answer.ids(), expected) << round;
  }
}

TEST(ModelRunner, ASessionContinuesARestoredStateBitForBit) {
  const auto model = load("k3-all-on");
  ASSERT_NE(model, nullptr);
  auto runner = *ModelRunner::create(model, {.max_sequences = 2, .max_positions = 512});
  Session session(*runner);
  ASSERT_TRUE(session.generate(request(*model, 4), {}));
  Session restored(*runner);
  ASSERT_TRUE(restored.restore(session.save(),
                               Ids(session.processed().begin(), session.processed().end())));
  GenerateRequest next = request(*model, 4);
  next.prompt.assign(session.processed().begin(), session.processed().end());
  next.prompt.push_back(3);
  std::array<std::vector<float>, 2> logits;
  SessionCallbacks callbacks;
  for (std::size_t i = 0; i < 2; ++i) {
    callbacks.on_prompt_logits = [&](std::span<const float> row) {
      logits[i].assign(row.begin(), row.end());
    };
    const auto answer = (i == 0 ? session : restored).generate(next, callbacks);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->usage.cached_tokens, next.prompt.size() - 1);
  }
  EXPECT_EQ(logits[0], logits[1]);
}

TEST(ModelRunner, AStateOfOtherWeightsIsRefused) {
  const auto model = load("k3-all-on");
  ASSERT_NE(model, nullptr);
  const testing::TemporaryDirectory dir;
  const auto source = testing::source_path("testdata/checkpoints/k3-all-on");
  std::filesystem::copy(source / "config.json", dir.file("config.json"));
  std::filesystem::copy(source / "model.safetensors", dir.file("model.safetensors"));
  std::string bytes = dir.read("model.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (std::size_t i = sizeof header + header; i < bytes.size(); i += 2) {
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
  }
  dir.write("model.safetensors", bytes);
  auto loaded = model::Model::load(dir.file(""));
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::shared_ptr<const model::Model> other = *std::move(loaded);
  const ModelRunnerOptions options{.max_sequences = 1, .max_positions = 128};
  const auto saved = (*(*ModelRunner::create(model, options))->acquire(64))->save();
  EXPECT_TRUE((*(*ModelRunner::create(model, options))->acquire(64))->restore(saved));
  EXPECT_EQ((*(*ModelRunner::create(other, options))->acquire(64))->restore(saved).error().message,
            "saved state: was made by another model than this one");
}

TEST(ModelRunner, RefusesOptionsOutsideTheirRange) {
  const auto model = load("k3-all-on");
  ASSERT_NE(model, nullptr);
  for (const ModelRunnerOptions& options :
       {ModelRunnerOptions{.threads = 0}, ModelRunnerOptions{.threads = kMaxThreads + 1},
        ModelRunnerOptions{.max_sequences = 0},
        ModelRunnerOptions{.max_sequences = kMaxSequences + 1},
        ModelRunnerOptions{.max_positions = 0}, ModelRunnerOptions{.workspace_tokens = 0}}) {
    const auto runner = ModelRunner::create(model, options);
    ASSERT_FALSE(runner);
    EXPECT_EQ(runner.error().code, Errc::kInvalidArgument);
  }
  EXPECT_TRUE(ModelRunner::create(model, {.max_sequences = kMaxSequences, .max_positions = 1}));
}

}  // namespace
}  // namespace daybreak::engine
