// SPDX-License-Identifier: Apache-2.0
#include "model/config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "testing/paths.h"

namespace daybreak::model {
namespace {

using Json = nlohmann::json;

Json fixture(const std::string& name) {
  return Json::parse(
      daybreak::testing::read_file(daybreak::testing::source_path("testdata/model/" + name)));
}

Result<ModelConfig> parse(const Json& json) { return parse_config(json.dump(), "config.json"); }

TEST(ModelConfig, ReadsTheNestedK3Config) {
  const auto config = parse(fixture("k3.config.json"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->layout, ConfigLayout::kNested);
  EXPECT_EQ(config->model_type, "kimi_k3");
  EXPECT_EQ(config->layers, 93u);
  EXPECT_EQ(config->kda_layer_count(), 69u);
  EXPECT_EQ(config->mla_layer_count(), 24u);
  EXPECT_EQ(config->moe_layer_count(), 92u);
  EXPECT_TRUE(config->is_kda(0));
  EXPECT_FALSE(config->is_kda(3));  // the list says 4: it counts from 1
  EXPECT_FALSE(config->is_kda(91));
  EXPECT_FALSE(config->is_kda(92));
  EXPECT_FALSE(config->is_moe(0));
  EXPECT_TRUE(config->is_moe(1));
  EXPECT_EQ(config->activation, Activation::kSitu);
  EXPECT_EQ(config->situ_beta, 4.0f);
  EXPECT_EQ(config->situ_linear_beta, 25.0f);
  EXPECT_EQ(config->attn_res_block_size, 12u);
  EXPECT_EQ(config->kda.gate_lower_bound, -5.0f);
  EXPECT_TRUE(config->kda.full_rank_gate);
  EXPECT_EQ(config->kda.width(), 12288u);
  EXPECT_EQ(config->mla.q_lora_rank, 1536u);
  EXPECT_EQ(config->mla.qk_head_dim(), 192u);
  EXPECT_EQ(config->mla.cache_width(), 576u);
  EXPECT_TRUE(config->mla.output_gate);
  ASSERT_TRUE(config->moe);
  EXPECT_EQ(config->moe->latent_size, 3584u);
  EXPECT_TRUE(config->moe->latent_norm);
  EXPECT_EQ(config->moe->shared_width(), 6144u);
  EXPECT_TRUE(config->mxfp4_experts);
  EXPECT_EQ(config->eos_ids, std::vector<TokenId>{163586});
  EXPECT_EQ(config->bos_id, 163584u);
  EXPECT_EQ(config->media_placeholder_id, 163605u);
  ASSERT_TRUE(config->vision);
  EXPECT_EQ(config->vision->merged_width(), 4096u);
}

TEST(ModelConfig, ReadsTheTopLevelKimiLinearConfig) {
  const auto config = parse(fixture("kimi-linear.config.json"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->layout, ConfigLayout::kTopLevel);
  EXPECT_EQ(config->model_type, "kimi_linear");
  EXPECT_EQ(config->activation, Activation::kSilu);
  EXPECT_EQ(config->attn_res_block_size, std::nullopt);
  EXPECT_EQ(config->kda.gate_lower_bound, std::nullopt);
  EXPECT_FALSE(config->kda.full_rank_gate);
  EXPECT_EQ(config->mla.q_lora_rank, std::nullopt);
  EXPECT_FALSE(config->mla.output_gate);
  EXPECT_EQ(config->moe->latent_size, std::nullopt);
  EXPECT_FALSE(config->moe->latent_norm);
  EXPECT_FLOAT_EQ(config->moe->routed_scaling_factor, 2.446f);
  EXPECT_FALSE(config->mxfp4_experts);
  EXPECT_FALSE(config->vision);
}

TEST(ModelConfig, AbsentAndNullOptionalKeysTakeTheDocumentedDefaults) {
  for (const bool as_null : {false, true}) {
    SCOPED_TRACE(as_null ? "null" : "absent");
    Json json = fixture("tiny.config.json");
    const auto drop = [&](Json& object, const char* key) {
      if (as_null) {
        object[key] = nullptr;
      } else {
        object.erase(key);
      }
    };
    for (const char* key :
         {"rms_norm_eps", "attn_res_block_size", "latent_moe_use_norm", "routed_expert_hidden_size",
          "activation_situ_beta", "activation_situ_linear_beta", "mla_use_output_gate",
          "q_lora_rank", "num_expert_group", "topk_group", "moe_layer_freq", "topk_method",
          "first_k_dense_replace", "max_position_embeddings", "num_key_value_heads", "eos_token_id",
          "bos_token_id", "quantization_config", "num_shared_experts"}) {
      drop(json["text_config"], key);
    }
    drop(json["text_config"]["linear_attn_config"], "gate_lower_bound");
    drop(json["text_config"]["linear_attn_config"], "use_full_rank_gate");
    drop(json, "vision_config");
    drop(json, "tie_word_embeddings");
    const auto config = parse(json);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->rms_norm_eps, 1e-6f);
    EXPECT_EQ(config->attn_res_block_size, std::nullopt);
    EXPECT_FALSE(config->moe->latent_norm);
    EXPECT_EQ(config->moe->latent_size, std::nullopt);
    EXPECT_EQ(config->situ_beta, 1.0f);
    EXPECT_EQ(config->situ_linear_beta, std::nullopt);
    EXPECT_FALSE(config->mla.output_gate);
    EXPECT_EQ(config->mla.q_lora_rank, std::nullopt);
    EXPECT_EQ(config->moe->groups, 1u);
    EXPECT_EQ(config->moe->topk_groups, 1u);
    EXPECT_EQ(config->moe->layer_freq, 1u);
    EXPECT_EQ(config->moe->first_dense_layers, 0u);
    EXPECT_EQ(config->moe->shared_experts, 0u);
    EXPECT_EQ(config->max_positions, 1048576u);
    EXPECT_EQ(config->kda.gate_lower_bound, std::nullopt);
    EXPECT_FALSE(config->kda.full_rank_gate);
    EXPECT_FALSE(config->vision);
    EXPECT_FALSE(config->tie_word_embeddings);
    EXPECT_FALSE(config->mxfp4_experts);
    EXPECT_TRUE(config->eos_ids.empty());
    EXPECT_EQ(config->bos_id, std::nullopt);
  }
}

TEST(ModelConfig, ASituBetaOfZeroMeansOne) {
  Json json = fixture("tiny.config.json");
  json["text_config"]["activation_situ_beta"] = 0.0;
  EXPECT_EQ(parse(json)->situ_beta, 1.0f);
}

TEST(ModelConfig, ModelsWithoutExpertsAndWithoutKdaAreAccepted) {
  Json json = fixture("tiny.config.json");
  json["text_config"]["num_experts"] = nullptr;
  for (const char* key :
       {"num_experts_per_token", "moe_intermediate_size", "moe_router_activation_func",
        "moe_renormalize", "routed_scaling_factor"}) {
    json["text_config"].erase(key);
  }
  json["text_config"]["linear_attn_config"] = nullptr;
  const auto config = parse(json);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->moe);
  EXPECT_EQ(config->moe_layer_count(), 0u);
  EXPECT_EQ(config->kda_layer_count(), 0u);
  EXPECT_FALSE(config->is_moe(2));
}

TEST(ModelConfig, AModelOfKdaLayersOnlyNeedsNoMlaSizes) {
  Json json = fixture("tiny.config.json");
  json["text_config"]["linear_attn_config"]["kda_layers"] = {1, 2, 3, 4};
  json["text_config"]["linear_attn_config"]["full_attn_layers"] = Json::array();
  for (const char* key : {"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
                          "num_attention_heads", "mla_use_nope"}) {
    json["text_config"].erase(key);
  }
  const auto config = parse(json);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->mla_layer_count(), 0u);
}

TEST(ModelConfig, MoeLayerFrequencyCountsFromLayerZero) {
  Json json = fixture("tiny.config.json");
  json["text_config"]["moe_layer_freq"] = 2;
  const auto config = parse(json);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->is_moe(1));
  EXPECT_TRUE(config->is_moe(2));
  EXPECT_FALSE(config->is_moe(3));
}

TEST(ModelConfig, TiedEmbeddingsAreFoundAtEitherLevel) {
  Json json = fixture("tiny.config.json");
  json["tie_word_embeddings"] = true;
  EXPECT_TRUE(parse(json)->tie_word_embeddings);
  json.erase("tie_word_embeddings");
  json["text_config"]["tie_word_embeddings"] = true;
  EXPECT_TRUE(parse(json)->tie_word_embeddings);
}

TEST(ModelConfig, QuantizationIsFoundAtEitherLevel) {
  Json json = fixture("tiny.config.json");
  json["quantization_config"] = json["text_config"]["quantization_config"];
  json["text_config"].erase("quantization_config");
  EXPECT_TRUE(parse(json)->mxfp4_experts);
  json.erase("quantization_config");
  EXPECT_FALSE(parse(json)->mxfp4_experts);
}

TEST(ModelConfig, EosIdsComeFromEveryPlaceOnce) {
  const auto dir = std::filesystem::path(::testing::TempDir()) /
                   ("daybreak_config_" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "config.json") << fixture("tiny.config.json").dump();
  EXPECT_EQ(load_config(dir)->eos_ids, (std::vector<TokenId>{2, 3}));
  std::ofstream(dir / "generation_config.json") << R"({"eos_token_id": [3, 7], "top_p": 1.0})";
  EXPECT_EQ(load_config(dir)->eos_ids, (std::vector<TokenId>{2, 3, 7}));
  EXPECT_EQ(load_config(dir / "config.json")->eos_ids, (std::vector<TokenId>{2, 3, 7}));
  std::ofstream(dir / "generation_config.json") << R"({"eos_token_id": 96})";
  const auto refused = load_config(dir);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            (dir / "generation_config.json").string() +
                ": eos_token_id: expected an integer in [0, 95], found 96");
  std::filesystem::remove_all(dir);
  EXPECT_EQ(load_config(dir).error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace daybreak::model
