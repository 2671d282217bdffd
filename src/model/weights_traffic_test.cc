// SPDX-License-Identifier: Apache-2.0
#include "model/weights_traffic.h"

#include <gtest/gtest.h>

#include "model/model_test_run.h"

namespace daybreak::model {
namespace {

using testing::load_checkpoint;

// Independent count: every matrix of the checkpoint but the embedding is read, so the tensors' own
// byte counts must add up to the traffic of a step that uses every expert, but for the vectors.
TEST(WeightTraffic, AddsUpToTheCheckpointsMatrices) {
  for (const char* name : {"k3-all-on", "kimi-linear", "dense-only", "all-mla", "fp8-experts"}) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    const ModelConfig& config = model->config();
    std::uint64_t expected = 0;
    for (const std::string_view tensor : model->checkpoint().names()) {
      const TensorView view = *model->checkpoint().tensor(tensor);
      const bool is_matrix = view.shape.size() == 2 && view.shape[0] > 1;
      const bool is_conv = tensor.find("conv1d") != std::string_view::npos;
      const bool is_embedding = tensor.find("embed_tokens") != std::string_view::npos;
      if (is_matrix && !is_conv && !is_embedding) {
        expected += view.bytes.size();
      }
    }
    const WeightTraffic traffic = WeightTraffic::of(config, model->weights());
    const std::uint64_t experts =
        config.moe ? config.moe->experts * config.moe_layer_count() * traffic.expert_bytes : 0;
    EXPECT_EQ(traffic.dense_bytes + traffic.head_bytes + experts, expected);
  }
}

TEST(WeightTraffic, HeadMultipliesEveryVocabularyRowOnce) {
  const auto model = load_checkpoint("k3-all-on");
  const WeightTraffic traffic = WeightTraffic::of(model->config(), model->weights());
  EXPECT_EQ(traffic.head_macs, model->config().vocab_size * model->config().hidden_size);
}

TEST(WorkspaceCounters, CountStepsTokensAndRows) {
  const auto model = load_checkpoint("k3-all-on");
  StatePool pool(model->config(), {.slots = 1, .max_positions = 64});
  Workspace workspace(model->config(), {.tokens = 8});
  ThreadTeam team(1);
  const auto state = *pool.acquire();
  const testing::Ids ids = testing::random_ids(*model, 20, 1);
  testing::Logits logits(model->config().vocab_size);
  std::array chunks = {Chunk{.state = state.get(), .ids = ids, .logits = logits}};
  ASSERT_TRUE(model->forward(chunks, workspace, team));
  const StepCounters counters = workspace.counters();
  EXPECT_EQ(counters.steps, 3u);
  EXPECT_EQ(counters.tokens, 20u);
  EXPECT_EQ(counters.logit_rows, 1u);
  EXPECT_EQ(counters.logit_steps, 1u);
  EXPECT_GT(counters.experts_read, 0u);
}

}  // namespace
}  // namespace daybreak::model
