// SPDX-License-Identifier: Apache-2.0
#include "model/model_size.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "model/memory_plan.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

ModelConfig fixture(const std::string& name) {
  auto config =
      load_config(daybreak::testing::source_path("testdata/model/" + name + ".config.json"));
  EXPECT_TRUE(config) << config.error().message;
  return *std::move(config);
}

ModelSize size_of_bare(const ModelConfig& config) {
  return model_size(config, TensorNaming(config, nullptr), nullptr);
}

// The figures published for the released checkpoint.
TEST(ModelSize, OfKimiK3EqualsThePublishedFigures) {
  const ModelSize size = size_of_bare(fixture("k3"));
  EXPECT_EQ(size.total.parameters, 2'779'931'837'184u);
  EXPECT_EQ(size.active_parameters, 104'189'614'848u);
  EXPECT_EQ(size.total.bytes, 1'560'860'324'864u);
  EXPECT_EQ(size.total.tensors, 497'220u);
  EXPECT_EQ(size.total.elements, 1'503'647'073'024u);
  EXPECT_EQ(size.of(TensorRole::kVisionTower).parameters, 401'214'464u);
  EXPECT_EQ(size.of(TensorRole::kProjector).parameters, 46'144'512u);
  EXPECT_EQ(size.of(TensorRole::kKda).parameters, 69 * std::uint64_t{443'740'416});
  EXPECT_EQ(size.of(TensorRole::kMla).parameters, 24 * std::uint64_t{232'196'096});
  EXPECT_EQ(size.of(TensorRole::kDenseMlp).parameters, 726'663'168u);
  EXPECT_EQ(size.of(TensorRole::kRoutedExperts).parameters, 92 * 896 * std::uint64_t{33'030'144});
  EXPECT_EQ(size.of(TensorRole::kRoutedExperts).bytes, 92 * 896 * std::uint64_t{17'547'264});
  EXPECT_EQ(size.of(TensorRole::kEmbedding).parameters, 1'174'405'120u);
  EXPECT_EQ(size.of(TensorRole::kHead).parameters, 1'174'405'120u);
}

TEST(ModelSize, OfKimiLinearIs49Billion) {
  const ModelSize size = size_of_bare(fixture("kimi-linear"));
  EXPECT_EQ(size.total.parameters, 49'122'681'728u);
  EXPECT_EQ(size.total.parameters / 10'000'000, 4912u);
  EXPECT_EQ(size.active_parameters / 100'000'000, 31u);
}

TEST(ModelSize, SumsOverRolesAndTypesAgree) {
  for (const char* name : {"k3", "kimi-linear", "tiny"}) {
    SCOPED_TRACE(name);
    const ModelSize size = size_of_bare(fixture(name));
    std::uint64_t by_role = 0;
    std::uint64_t by_dtype = 0;
    for (const SizeCount& count : size.by_role) {
      by_role += count.bytes;
    }
    for (const SizeCount& count : size.by_dtype) {
      by_dtype += count.bytes;
    }
    EXPECT_EQ(by_role, size.total.bytes);
    EXPECT_EQ(by_dtype, size.total.bytes);
  }
}

TEST(ModelSize, ATiedHeadIsStoredOnceAndUsed) {
  ModelConfig config = fixture("tiny");
  const ModelSize untied = size_of_bare(config);
  config.tie_word_embeddings = true;
  const ModelSize tied = size_of_bare(config);
  EXPECT_EQ(untied.total.parameters - tied.total.parameters,
            config.vocab_size * config.hidden_size);
  EXPECT_EQ(untied.active_parameters, tied.active_parameters);
}

TEST(TensorCatalog, NamesAreUniqueAndLayersHoldWhatTheReleasedOnesHold) {
  const ModelConfig config = fixture("k3");
  std::map<std::size_t, std::size_t> per_layer;
  std::set<std::string> names;
  for_each_tensor(config, TensorNaming(config, nullptr), [&](const TensorSpec& spec) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    if (spec.layer) {
      ++per_layer[*spec.layer];
    }
  });
  EXPECT_EQ(per_layer[0], 23u);
  EXPECT_EQ(per_layer[1], 5404u);
  EXPECT_EQ(per_layer[3], 5398u);
  EXPECT_EQ(per_layer.size(), 93u);
}

TEST(MemoryPlan, OfKimiK3EqualsTheCacheFiguresOfTheSpecification) {
  const ModelConfig config = fixture("k3");
  const auto half = plan_memory(config, 0, {.context = 1048576, .format = StateFormat::kBf16});
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->cache_per_token, 27'648u);
  EXPECT_EQ(half->cache, std::uint64_t{27'648} * 1048576);
  EXPECT_EQ(half->state_per_sequence, 434'110'464u);
  EXPECT_EQ(half->conv_per_sequence, 15'261'696u);
  const auto full = plan_memory(config, 1'560'860'324'864u, {.context = 100, .slots = 3});
  ASSERT_TRUE(full);
  EXPECT_EQ(full->cache_per_token, 55'296u);
  EXPECT_EQ(full->conv_per_sequence, 30'523'392u);
  EXPECT_EQ(full->copies, 24u * 96 * 128 * 512 * 2);
  EXPECT_EQ(full->residual_per_token, 9u * 7168 * 4);
  EXPECT_EQ(full->cache, 3u * 128 * 55'296);  // whole pages of 64
  EXPECT_EQ(full->sequences, 3u * (434'110'464 + 30'523'392));
  EXPECT_EQ(full->total, 1'560'860'324'864u + full->copies + full->cache + full->sequences +
                             64 * full->residual_per_token);
}

TEST(MemoryPlan, ACheckpointTakesWhatASequenceTakesBesideItsCache) {
  const ModelConfig config = fixture("k3");
  const auto none = plan_memory(config, 0, {.context = 100});
  const auto plan = plan_memory(config, 0, {.context = 100, .checkpoints = 16});
  ASSERT_TRUE(plan);
  EXPECT_EQ(none->checkpoints, 0U);
  EXPECT_EQ(plan->checkpoints, 16 * none->sequences);
  EXPECT_EQ(plan->total, none->total + plan->checkpoints);
  EXPECT_TRUE(plan_memory(config, 0, {.context = 1, .checkpoints = kMaxPlanSlots}));
  EXPECT_EQ(
      plan_memory(config, 0, {.context = 1, .checkpoints = kMaxPlanSlots + 1}).error().message,
      "checkpoints: expected at most 1048576, found 1048577");
}

TEST(MemoryPlan, ContextAndSlotsAreBoundedOnBothSides) {
  const ModelConfig config = fixture("tiny");
  EXPECT_TRUE(plan_memory(config, 0, {.context = 4096}));
  EXPECT_EQ(plan_memory(config, 0, {.context = 4097}).error().message,
            "context: expected an integer in [1, 4096], found 4097");
  EXPECT_FALSE(plan_memory(config, 0, {.context = 0}));
  EXPECT_TRUE(plan_memory(config, 0, {.context = 1, .slots = kMaxPlanSlots}));
  EXPECT_FALSE(plan_memory(config, 0, {.context = 1, .slots = kMaxPlanSlots + 1}));
  EXPECT_FALSE(plan_memory(config, 0, {.context = 1, .slots = 0}));
  EXPECT_FALSE(plan_memory(config, ~std::uint64_t{0}, {}));
}

}  // namespace
}  // namespace daybreak::model
