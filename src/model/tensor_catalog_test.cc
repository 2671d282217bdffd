// SPDX-License-Identifier: Apache-2.0
#include "model/tensor_catalog.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "model/model_size.h"
#include "model/safetensors_builder.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

ModelConfig tiny() {
  auto config = load_config(daybreak::testing::source_path("testdata/model/tiny.config.json"));
  EXPECT_TRUE(config) << config.error().message;
  return *std::move(config);
}

using Edit = std::function<void(std::vector<TensorSpec>&)>;

TensorSpec& find(std::vector<TensorSpec>& specs, const std::string& suffix) {
  for (TensorSpec& spec : specs) {
    if (spec.name.ends_with(suffix)) {
      return spec;
    }
  }
  ADD_FAILURE() << "no tensor ends with " << suffix;
  return specs.front();
}

// Writes the checkpoint `config` asks for, changed by `edit`, and returns the check's report.
CatalogReport check(const ModelConfig& written, const ModelConfig& config, const Edit& edit,
                    std::string* error = nullptr) {
  std::vector<TensorSpec> specs;
  for_each_tensor(written, TensorNaming(written, nullptr),
                  [&](const TensorSpec& spec) { specs.push_back(spec); });
  edit(specs);
  SafetensorsBuilder builder;
  for (const TensorSpec& spec : specs) {
    builder.add(spec.name, spec.dtype, spec.shape);
  }
  const TemporaryDirectory dir;
  dir.write("model.safetensors", builder.bytes());
  const auto checkpoint = Checkpoint::open(dir.path());
  EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  CatalogReport report = catalog_check(config, TensorNaming(config, &*checkpoint), *checkpoint);
  if (error != nullptr) {
    const auto status = report.status();
    *error = status ? "none" : status.error().message;
    for (std::size_t at; (at = error->find(dir.path().string())) != std::string::npos;) {
      error->erase(at, dir.path().string().size());
    }
  }
  return report;
}

std::string fault(const Edit& edit) {
  std::string error;
  (void)check(tiny(), tiny(), edit, &error);
  return error;
}

TEST(TensorCatalog, TheAcceptedFormsOfATensorAreAccepted) {
  EXPECT_EQ(fault([](auto&) {}), "none");
  EXPECT_EQ(fault([](auto& specs) {
              find(specs, "layers.0.self_attn.A_log").shape = {1, 1, 3, 1};
              find(specs, "layers.1.self_attn.A_log").shape = {128};
              find(specs, "layers.0.self_attn.q_conv1d.weight").shape = {48, 4};
              find(specs, "layers.0.self_attn.k_conv1d.weight").dtype = DType::kBf16;
              find(specs, "layers.0.self_attn.o_norm.weight").dtype = DType::kBf16;
              find(specs, "layers.1.block_sparse_moe.gate.weight").dtype = DType::kF32;
              find(specs, "layers.2.mlp_res_proj.weight").shape = {64};
              find(specs, "layers.3.self_attn.o_proj.weight").dtype = DType::kF8E4M3;
              find(specs, "layers.3.self_attn.q_a_proj.weight").dtype = DType::kF16;
            }),
            "none");
}

TEST(TensorCatalog, MisfitsNameFileTensorExpectedAndFound) {
  const std::string layer = "language_model.model.layers.";
  EXPECT_EQ(fault([](auto& specs) { find(specs, "0.self_attn.A_log").shape = {2}; }),
            "/model.safetensors: tensor '" + layer +
                "0.self_attn.A_log': config.json asks for F32[16] (or another of BF16, F16, F32, "
                "F8_E4M3), at least 3 numbers, the file has F32[2]");
  EXPECT_EQ(fault([](auto& specs) { find(specs, "0.mlp.up_proj.weight").shape = {64, 80}; }),
            "/model.safetensors: tensor '" + layer +
                "0.mlp.up_proj.weight': config.json asks for BF16[80,64] (or another of BF16, F16, "
                "F32, F8_E4M3), the file has BF16[64,80]");
  EXPECT_EQ(fault([](auto& specs) { find(specs, "0.mlp.up_proj.weight").dtype = DType::kI16; }),
            "/model.safetensors: tensor '" + layer +
                "0.mlp.up_proj.weight': config.json asks for BF16[80,64] (or another of BF16, F16, "
                "F32, F8_E4M3), the file has I16[80,64]");
  EXPECT_EQ(fault([](auto& specs) {
              find(specs, "1.block_sparse_moe.experts.5.w2.weight_scale").shape = {64, 2};
            }),
            "/model.safetensors: tensor '" + layer +
                "1.block_sparse_moe.experts.5.w2.weight_scale': config.json asks for U8[64,1], the "
                "file has U8[64,2]");
}

TEST(TensorCatalog, MissingAndUnexplainedTensorsAreNamed) {
  const std::string layer = "language_model.model.layers.";
  EXPECT_EQ(fault([](auto& specs) {
              std::erase_if(specs,
                            [](const auto& s) { return s.name.ends_with("lm_head.weight"); });
            }),
            ": tensor 'language_model.lm_head.weight' is missing: config.json asks for "
            "BF16[96,64]");
  EXPECT_EQ(fault([&](auto& specs) {
              specs.push_back({.name = layer + "2.self_attn.q_norm.weight", .shape = {8}});
            }),
            "/model.safetensors: tensor '" + layer +
                "2.self_attn.q_norm.weight': nothing in config.json asks for it");
}

// A config that is wrong in one switch would compute something that looks right.
TEST(TensorCatalog, AWrongSwitchLeavesTensorsOver) {
  const ModelConfig written = tiny();
  std::vector<ModelConfig> wrong(5, written);
  wrong[0].attn_res_block_size.reset();
  wrong[1].mla.output_gate = false;
  wrong[2].moe->latent_norm = false;
  wrong[3].moe->shared_experts = 0;
  wrong[4].layout = ConfigLayout::kNested;
  wrong[4].kda.full_rank_gate = false;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_GT(check(written, wrong[i], [](auto&) {}).problems, 0u);
  }
}

TEST(TensorCatalog, ManyProblemsAreCountedAndTheFirstOnesShown) {
  ModelConfig larger = tiny();
  larger.moe->experts = 9;
  std::string error;
  const CatalogReport report = check(tiny(), larger, [](auto&) {}, &error);
  // In each of 3 layers: router and bias are misshapen and 3 experts lack 3 matrices; an expert
  // that is not there at all is asked for in its plain form.
  EXPECT_EQ(report.problems, 3u * (2 + 3 * 3));
  EXPECT_EQ(report.shown.size(), CatalogReport::kShown);
  EXPECT_TRUE(error.ends_with("; and 25 more problems")) << error;
}

TEST(TensorCatalog, PackedRowsMustBeWholeGroups) {
  ModelConfig ragged = tiny();
  ragged.moe->intermediate_size = 48;
  std::string error;
  (void)check(ragged, ragged, [](auto&) {}, &error);
  EXPECT_EQ(
      error,
      ": MXFP4 experts need rows of a multiple of 32 weights, config.json makes them 48 wide");
}

TEST(TensorCatalog, DraftLayersTiedHeadsAndUndescribedVisionAreIgnored) {
  ModelConfig config = tiny();
  config.vision.reset();
  config.tie_word_embeddings = true;
  const CatalogReport report = check(tiny(), config, [](auto& specs) {
    specs.push_back({.name = "language_model.model.layers.4.eh_proj.weight", .shape = {4}});
    specs.push_back(
        {.name = "language_model.model.layers.3.self_attn.rotary_emb.inv_freq", .shape = {4}});
  });
  EXPECT_TRUE(report.status()) << report.status().error().message;
  std::size_t vision = 0;
  for_each_tensor(tiny(), TensorNaming(tiny(), nullptr), [&](const TensorSpec& spec) {
    vision += spec.role == TensorRole::kVisionTower || spec.role == TensorRole::kProjector;
  });
  EXPECT_EQ(report.ignored, 2 + 1 + vision);
  EXPECT_EQ(report.ignored_shown.size(), CatalogReport::kShown);
}

TEST(TensorCatalog, PlainExpertsAndBothPrefixesAreFoundByName) {
  ModelConfig plain = tiny();
  plain.mxfp4_experts = false;
  // The config says MXFP4, the tensors say otherwise: the tensors decide.
  EXPECT_TRUE(check(plain, tiny(), [](auto&) {}).status());

  ModelConfig flat = tiny();
  flat.layout = ConfigLayout::kTopLevel;
  EXPECT_TRUE(check(flat, tiny(), [](auto&) {}).status());
  EXPECT_TRUE(check(tiny(), flat, [](auto&) {}).status());
}

}  // namespace
}  // namespace daybreak::model
