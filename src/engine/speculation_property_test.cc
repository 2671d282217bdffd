// SPDX-License-Identifier: Apache-2.0
// Whatever is guessed: every answer of a real model has the bits it has without guesses, beside
// others, with a cache that others have filled, under a constraint, and after cancellations.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <set>

#include "base/rng.h"
#include "engine/ask_all.h"
#include "engine/engine.h"
#include "engine/model_runner.h"
#include "engine/scripted_constraint.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

std::unique_ptr<Engine> start(const std::shared_ptr<const model::Model>& model,
                              const EngineOptions& options) {
  const bool guesses = options.speculation.method != SpeculationMethod::kNone;
  auto runner = *ModelRunner::create(model, {.threads = 1 + options.step_tokens % 2,
                                             .max_sequences = 3,
                                             .max_positions = 3 * 320,
                                             .max_checkpoints = guesses ? 3U : 0U,
                                             .workspace_tokens = 16,
                                             .max_guesses = guesses ? 8U : 0U});
  return *Engine::start(std::move(runner), options);
}

// Prompts that repeat themselves, so that guesses are made; and answers of few ids, so that some
// of them are right.
GenerateRequest request(Rng& rng, std::size_t vocab, const Ids& shared) {
  GenerateRequest r;
  r.prompt = shared;
  Ids phrase;
  for (std::size_t i = 0; i < 5; ++i) {
    phrase.push_back(rng.below(static_cast<std::uint32_t>(vocab)));
  }
  for (std::size_t i = 0; i < 1 + rng.below(12); ++i) {
    r.prompt.insert(r.prompt.end(), phrase.begin(), phrase.end());
  }
  r.max_tokens = 1 + rng.below(60);
  r.sampling.seed = rng.below(1000);
  r.sampling.temperature = rng.below(2) == 0 ? 0.0F : 0.3F;
  r.sampling.logprobs = 0;
  for (const TokenId id : std::set(phrase.begin(), phrase.end())) {
    r.sampling.logit_bias.push_back({id, 4.0F});
  }
  if (rng.below(3) == 0) {  // one that changes with what was drawn
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

TEST(SpeculationProperty, AnswersHaveTheSameBitsWithAndWithoutGuesses) {
  constexpr std::array kModels = {"k3-all-on", "softplus-low-rank", "all-kda-bf16", "all-mla"};
  std::size_t equal = 0;
  std::uint64_t accepted = 0;
  std::uint64_t guessed = 0;
  std::uint64_t reused = 0;
  for (const char* name : kModels) {
    SCOPED_TRACE(name);
    const auto model = load_model(std::string("testdata/checkpoints/") + name);
    ASSERT_NE(model, nullptr);
    const std::size_t vocab = model->config().vocab_size;
    const auto plain = start(model, {.prefix_reuse = PrefixReuse::kOff});
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      Rng rng(seed);
      EngineOptions options;
      options.step_tokens = seed % 2 == 0 ? 64 : 9;
      options.mask_grace = std::chrono::microseconds(seed < 2 ? 2000 : 0);
      options.speculation = {.method = SpeculationMethod::kNgram,
                             .most = 1 + (seed * 5 + 2) % 8,
                             .min_match = 1 + seed % 3};
      const auto engine = start(model, options);
      Ids shared;
      for (std::size_t i = 0; i < 70; ++i) {
        shared.push_back(rng.below(static_cast<std::uint32_t>(vocab)));
      }
      for (int round = 0; round < 4; ++round) {
        std::vector<GenerateRequest> requests;
        for (int i = 0; i < 4; ++i) {  // one more than slots
          requests.push_back(request(rng, vocab, shared));
        }
        const std::size_t cancelled = rng.below(8);
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
      accepted += engine->stats().accepted_tokens;
      guessed += engine->stats().draft_tokens;
      reused += engine->stats().prefix_hits;
    }
  }
  EXPECT_GT(accepted, 500U);
  EXPECT_GT(guessed, accepted + 500);
  EXPECT_GT(reused, 1000U);
  std::printf(
      "PROOF speculation_bits: %zu answers equal, %llu of %llu guesses accepted, %llu prompt "
      "tokens reused\n",
      equal, static_cast<unsigned long long>(accepted), static_cast<unsigned long long>(guessed),
      static_cast<unsigned long long>(reused));
}

}  // namespace
}  // namespace daybreak::engine
