// SPDX-License-Identifier: Apache-2.0
// Log-probabilities of prompts against the float64 reference: its logits after a prompt rate the id
// that follows in a longer prompt, and the ids it chooses greedily have rank 1.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/model_runner.h"
#include "model/model_golden_cases.h"
#include "testing/paths.h"

namespace daybreak::engine {
namespace {

double log_softmax(const std::vector<double>& logits, TokenId id) {
  const double max = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) {
    sum += std::exp(logit - max);
  }
  return logits[id] - max - std::log(sum);
}

TEST(PromptLogprobsGolden, AreThoseOfTheReference) {
  std::size_t compared = 0;
  double worst = 0;
  for (const char* name : {"k3-all-on", "kimi-linear", "all-mla", "all-kda-bf16", "odd-sizes",
                           "tied-two-shards", "fp8-experts"}) {
    SCOPED_TRACE(name);
    const std::shared_ptr<const model::Model> model =
        *model::Model::load(testing::source_path(std::string("testdata/checkpoints/") + name));
    const auto engine = *Engine::start(
        *ModelRunner::create(model, {.max_sequences = 2, .max_positions = 2048}), EngineOptions{});
    for (const auto& golden : model::testing::read_golden_cases(
             testing::source_path(std::string("golden/model/") + name + ".json"))) {
      GenerateRequest request;
      request.prompt = golden.ids;
      request.prompt.insert(request.prompt.end(), golden.greedy.begin(), golden.greedy.end());
      request.prompt_logprobs = 0;
      AnswerCollector answer;
      ASSERT_TRUE(engine->submit(request, answer.fn()));
      ASSERT_EQ(answer.wait(), FinishReason::kLength);
      ASSERT_EQ(answer.prompt().size(), request.prompt.size() - 1);
      const PromptLogprob& first = answer.prompt()[golden.ids.size() - 1];
      const double expected = log_softmax(golden.last_logits, golden.greedy.front());
      EXPECT_NEAR(first.logprob, expected, 1e-4);
      worst = std::max(worst, std::abs(first.logprob - expected));
      if (golden.margin > 1e-3) {
        for (std::size_t i = golden.ids.size() - 1; i < answer.prompt().size(); ++i) {
          EXPECT_EQ(answer.prompt()[i].rank, 1U) << i;
        }
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 20U);
  std::printf("PROOF prompt_logprobs: %zu prompts, worst difference %.2g\n", compared, worst);
}

}  // namespace
}  // namespace daybreak::engine
