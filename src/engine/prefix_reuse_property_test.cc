// SPDX-License-Identifier: Apache-2.0
// Whatever is kept, evicted and gone on from: every answer of a real model has the bits it has from
// an engine that keeps nothing.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "base/rng.h"
#include "engine/ask_all.h"
#include "engine/engine.h"
#include "engine/model_runner.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

std::unique_ptr<Engine> start(const std::shared_ptr<const model::Model>& model, PrefixReuse reuse,
                              std::size_t sequences, std::size_t step_tokens) {
  auto runner = *ModelRunner::create(model, {.threads = 1 + step_tokens % 2,
                                             .max_sequences = sequences,
                                             .max_positions = sequences * 128});
  return *Engine::start(std::move(runner), {.step_tokens = step_tokens, .prefix_reuse = reuse});
}

void append_random(Rng& rng, std::size_t count, std::size_t vocab, Ids& ids) {
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(rng.below(static_cast<std::uint32_t>(vocab)));
  }
}

TEST(PrefixReuseProperty, AnswersOfRandomConversationsHaveTheSameBitsWithAndWithout) {
  constexpr std::array kModels = {"models/nano", "testdata/checkpoints/k3-all-on",
                                  "testdata/checkpoints/all-kda-bf16",
                                  "testdata/checkpoints/all-mla"};
  std::size_t answers = 0;
  std::size_t cached = 0;
  std::size_t prompts = 0;
  for (const char* name : kModels) {
    SCOPED_TRACE(name);
    const auto model = load_model(name);
    ASSERT_NE(model, nullptr);
    const auto plain = start(model, PrefixReuse::kOff, 3, 512);
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      Rng rng(seed);
      const auto engine = start(model, PrefixReuse::kOn, 2 + seed, seed == 0 ? 7 : 64);
      std::array<Ids, 3> conversations;  // as many as slots, or one more
      for (int turn = 0; turn < 4; ++turn) {
        std::vector<GenerateRequest> requests;
        for (Ids& prompt : conversations) {
          append_random(rng, 1 + rng.below(20), model->config().vocab_size, prompt);
          GenerateRequest r;
          r.prompt = prompt;
          r.max_tokens = 1 + rng.below(8);
          r.sampling.seed = rng.below(1000);
          r.sampling.logprobs = 0;
          requests.push_back(std::move(r));
          prompts += prompt.size();
        }
        const std::vector<Answer> got = ask_all(*engine, requests);
        const std::vector<Answer> expected = ask_all(*plain, requests);
        for (std::size_t i = 0; i < got.size(); ++i) {
          EXPECT_EQ(got[i].tokens, expected[i].tokens);
          EXPECT_EQ(expected[i].cached, 0U);
          EXPECT_LT(got[i].cached, requests[i].prompt.size());
          ++answers;
          cached += got[i].cached;
          for (const TokenLogprob& token : got[i].tokens) {
            conversations[i].push_back(token.id);
          }
        }
      }
    }
  }
  EXPECT_GT(cached, prompts / 3) << "of " << prompts;
  std::printf("PROOF prefix_reuse_bits: %zu answers equal, %zu of %zu prompt tokens reused\n",
              answers, cached, prompts);
}

}  // namespace
}  // namespace daybreak::engine
