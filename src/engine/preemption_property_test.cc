// SPDX-License-Identifier: Apache-2.0
// However little memory there is and whoever is preempted: every answer of a real model has the
// bits it has from an engine with memory for all, and all memory is given back.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "base/rng.h"
#include "engine/ask_all.h"
#include "engine/model_runner.h"
#include "engine/scripted_constraint.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

// Pages of 64 positions are set aside; every request below needs up to four.
std::unique_ptr<Engine> start(const std::shared_ptr<const model::Model>& model, std::size_t pages,
                              EngineOptions options, std::size_t checkpoints) {
  auto runner = *ModelRunner::create(model, {.threads = 1 + options.step_tokens % 2,
                                             .max_sequences = 4,
                                             .max_positions = pages * 64,
                                             .max_checkpoints = checkpoints,
                                             .workspace_tokens = 16,
                                             .max_guesses = 4});
  return *Engine::start(std::move(runner), options);
}

GenerateRequest request(Rng& rng, std::size_t vocab, const Ids& shared) {
  GenerateRequest r;
  r.prompt.assign(shared.begin(), shared.begin() + rng.below(2) * 70);
  const Ids phrase = {rng.below(static_cast<std::uint32_t>(vocab)),
                      rng.below(static_cast<std::uint32_t>(vocab))};
  for (std::size_t i = 0; i < 1 + rng.below(20); ++i) {
    r.prompt.push_back(rng.below(3) == 0 ? rng.below(static_cast<std::uint32_t>(vocab))
                                         : phrase[i % 2]);
  }
  r.max_tokens = 40 + rng.below(110);
  r.sampling.seed = rng.below(1000);
  r.sampling.temperature = rng.below(2) == 0 ? 0.0F : 0.7F;
  r.sampling.presence_penalty = 0.3F;
  r.sampling.logprobs = 0;
  r.priority = static_cast<int>(rng.below(3));
  if (rng.below(4) == 0) {
    r.constraint = ScriptedConstraint::factory([vocab](const Ids& accepted) {
      Mask mask = mask_of_all(vocab);
      if (!accepted.empty()) {
        mask[accepted.back() / 32] &= ~(std::uint32_t{1} << (accepted.back() % 32));
      }
      return mask;
    });
  }
  return r;
}

TEST(PreemptionProperty, AnswersHaveTheSameBitsHoweverLittleMemoryThereIs) {
  constexpr std::array kModels = {"k3-all-on", "all-kda-bf16", "all-mla"};
  std::size_t equal = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t read_again = 0;
  for (const char* name : kModels) {
    SCOPED_TRACE(name);
    const auto model = load_model(std::string("testdata/checkpoints/") + name);
    ASSERT_NE(model, nullptr);
    const auto plain = start(model, 64, {.prefix_reuse = PrefixReuse::kOff}, 0);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(seed);
      Rng rng(seed);
      EngineOptions options;
      options.step_tokens = seed % 2 == 0 ? 64 : 9;
      options.answer_reserve = 1 + seed * 9;
      options.prefix_reuse = seed == 3 ? PrefixReuse::kOff : PrefixReuse::kOn;
      if (seed % 2 == 1) {
        options.speculation = {.method = SpeculationMethod::kNgram, .most = 4, .min_match = 1};
      }
      const auto engine = start(model, 6, options, seed == 0 ? 0 : 3);
      Ids shared;
      for (std::size_t i = 0; i < 70; ++i) {
        shared.push_back(rng.below(static_cast<std::uint32_t>(model->config().vocab_size)));
      }
      std::size_t prompts = 0;
      for (int round = 0; round < 3; ++round) {
        std::vector<GenerateRequest> requests;
        for (int i = 0; i < 6; ++i) {  // two more than slots
          requests.push_back(request(rng, model->config().vocab_size, shared));
          prompts += requests.back().prompt.size();
        }
        const std::size_t cancelled = rng.below(12);
        const std::vector<Answer> got = ask_all(*engine, requests, cancelled);
        const std::vector<Answer> expected = ask_all(*plain, requests);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const std::size_t count =
              i == cancelled ? got[i].tokens.size() : expected[i].tokens.size();
          ASSERT_LE(count, expected[i].tokens.size());
          ASSERT_EQ(got[i].tokens,
                    std::vector(expected[i].tokens.begin(),
                                expected[i].tokens.begin() + static_cast<std::ptrdiff_t>(count)));
          ++equal;
        }
      }
      const Stats stats = engine->stats();
      EXPECT_EQ(stats.running + stats.queued, 0U);
      EXPECT_EQ(stats.positions_reserved, 0U);
      preemptions += stats.preemptions;
      read_again += stats.prefill_tokens + stats.prefix_hits > prompts
                        ? stats.prefill_tokens + stats.prefix_hits - prompts
                        : 0;
    }
    EXPECT_EQ(plain->stats().preemptions, 0U);
  }
  EXPECT_GT(preemptions, 50U);
  EXPECT_GT(read_again, 1000U);
  std::printf(
      "PROOF preemption_bits: %zu answers equal, %llu preemptions, %llu tokens read again\n", equal,
      static_cast<unsigned long long>(preemptions), static_cast<unsigned long long>(read_again));
}

}  // namespace
}  // namespace daybreak::engine
