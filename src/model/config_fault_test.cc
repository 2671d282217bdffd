// SPDX-License-Identifier: Apache-2.0
// Configs that must be refused, each with a message that names file, field, expected and found.

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/config.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

using Json = nlohmann::json;

Json tiny() {
  return Json::parse(daybreak::testing::read_file(
      daybreak::testing::source_path("testdata/model/tiny.config.json")));
}

Error refusal(const std::string& text) {
  const auto config = parse_config(text, "config.json");
  return config ? Error{Errc::kCancelled, "accepted"} : config.error();
}

TEST(ModelConfigFault, EveryMandatoryKeyIsNamedWhenItIsMissing) {
  const std::vector<std::string> keys = {
      "/text_config/vocab_size",
      "/text_config/hidden_size",
      "/text_config/num_hidden_layers",
      "/text_config/hidden_act",
      "/text_config/intermediate_size",
      "/text_config/linear_attn_config",
      "/text_config/linear_attn_config/kda_layers",
      "/text_config/linear_attn_config/num_heads",
      "/text_config/linear_attn_config/head_dim",
      "/text_config/linear_attn_config/short_conv_kernel_size",
      "/text_config/num_attention_heads",
      "/text_config/kv_lora_rank",
      "/text_config/qk_nope_head_dim",
      "/text_config/qk_rope_head_dim",
      "/text_config/v_head_dim",
      "/text_config/mla_use_nope",
      "/text_config/num_experts_per_token",
      "/text_config/moe_intermediate_size",
      "/text_config/moe_router_activation_func",
      "/text_config/moe_renormalize",
      "/text_config/routed_scaling_factor",
      "/text_config/quantization_config/quant_method",
      "/vision_config/vt_hidden_size",
      "/vision_config/merge_kernel_size",
  };
  for (const std::string& key : keys) {
    SCOPED_TRACE(key);
    const Json::json_pointer pointer(key);
    Json json = tiny();
    json.at(pointer.parent_pointer()).erase(pointer.back());
    std::string dotted = key.substr(1);
    std::ranges::replace(dotted, '/', '.');
    const Error error = refusal(json.dump());
    EXPECT_EQ(error.code, Errc::kInvalidArgument);
    EXPECT_EQ(error.message, "config.json: mandatory keys are missing: " + dotted);
  }
}

TEST(ModelConfigFault, AllMissingKeysStandInOneMessage) {
  Json json = tiny();
  for (const char* key : {"vocab_size", "hidden_size", "kv_lora_rank", "moe_intermediate_size"}) {
    json["text_config"].erase(key);
  }
  EXPECT_EQ(refusal(json.dump()).message,
            "config.json: mandatory keys are missing: text_config.vocab_size, "
            "text_config.hidden_size, text_config.kv_lora_rank, text_config.moe_intermediate_size");
  EXPECT_EQ(refusal("{}").message,
            "config.json: mandatory keys are missing: vocab_size, hidden_size, num_hidden_layers, "
            "hidden_act, linear_attn_config, num_attention_heads, kv_lora_rank, qk_nope_head_dim, "
            "qk_rope_head_dim, v_head_dim, mla_use_nope, intermediate_size");
}

struct Bad {
  const char* pointer;
  Json value;
  Errc code;
  const char* message;  // after "config.json: "
};

TEST(ModelConfigFault, WrongValuesAreNamedWithWhatWasExpected) {
  constexpr Errc kBad = Errc::kInvalidArgument;
  constexpr Errc kNo = Errc::kUnsupported;
  const std::vector<Bad> rows = {
      {"/text_config", 3, kBad, "text_config: expected an object, found 3"},
      {"/text_config/hidden_size", "64", kBad,
       "text_config.hidden_size: expected an integer in [1, 1048576], found \"64\""},
      {"/text_config/hidden_size", -64, kBad,
       "text_config.hidden_size: expected an integer in [1, 1048576], found -64"},
      {"/text_config/hidden_size", 64.5, kBad,
       "text_config.hidden_size: expected an integer in [1, 1048576], found 64.5"},
      {"/text_config/hidden_size", 0, kBad,
       "text_config.hidden_size: expected an integer in [1, 1048576], found 0"},
      {"/text_config/hidden_size", 1048577, kBad,
       "text_config.hidden_size: expected an integer in [1, 1048576], found 1048577"},
      {"/text_config/vocab_size", 16777217, kBad,
       "text_config.vocab_size: expected an integer in [1, 16777216], found 16777217"},
      {"/text_config/num_hidden_layers", 4097, kBad,
       "text_config.num_hidden_layers: expected an integer in [1, 4096], found 4097"},
      {"/text_config/num_experts", 65537, kBad,
       "text_config.num_experts: expected an integer in [1, 65536], found 65537"},
      {"/text_config/rms_norm_eps", -1e-5, kBad,
       "text_config.rms_norm_eps: expected a number in [1e-12, 1], found -1e-05"},
      {"/text_config/rms_norm_eps", true, kBad,
       "text_config.rms_norm_eps: expected a number in [1e-12, 1], found true"},
      {"/text_config/hidden_act", "gelu", kNo,
       "text_config.hidden_act: expected \"situ\" or \"silu\", found \"gelu\""},
      {"/model_type", "llama", kNo,
       "model_type: expected \"kimi_k3\" or \"kimi_linear\", found \"llama\""},
      {"/text_config/mla_use_nope", false, kNo,
       "text_config.mla_use_nope: expected true: this family never rotates queries and keys"},
      {"/text_config/moe_router_activation_func", "relu", kNo,
       "text_config.moe_router_activation_func: expected \"sigmoid\" or \"softmax\", found "
       "\"relu\""},
      {"/text_config/topk_method", "greedy", kNo,
       "text_config.topk_method: expected \"noaux_tc\", found \"greedy\""},
      {"/text_config/num_key_value_heads", 1, kNo,
       "text_config.num_key_value_heads: latent attention has one latent for all heads: expected "
       "num_attention_heads = 2, found 1"},
      {"/text_config/num_experts_per_token", 7, kBad,
       "text_config.num_experts_per_token: expected at most num_experts = 6, found 7"},
      {"/text_config/num_expert_group", 4, kBad,
       "text_config.num_expert_group: expected a divisor of num_experts = 6, found 4"},
      {"/text_config/topk_group", 2, kBad,
       "text_config.topk_group: expected at most num_expert_group = 1, found 2"},
      {"/text_config/num_expert_group", 6, kBad,
       "text_config.num_expert_group: a group is scored by its two best experts, but has only one"},
      {"/text_config/linear_attn_config/short_conv_kernel_size", 9, kBad,
       "text_config.linear_attn_config.short_conv_kernel_size: expected an integer in [1, 8], "
       "found 9"},
      {"/text_config/linear_attn_config/gate_lower_bound", 5.0, kBad,
       "text_config.linear_attn_config.gate_lower_bound: expected a number in [-1000, -1e-06], "
       "found 5"},
      {"/text_config/linear_attn_config/kda_layers", Json({1, 2, 0}), kBad,
       "text_config.linear_attn_config.kda_layers[2]: expected an integer in [1, 4], found 0"},
      {"/text_config/linear_attn_config/kda_layers", Json({1, 2, 5}), kBad,
       "text_config.linear_attn_config.kda_layers[2]: expected an integer in [1, 4], found 5"},
      {"/text_config/linear_attn_config/kda_layers", Json({1, 2, 3}), kBad,
       "text_config.linear_attn_config.kda_layers: layer 3 (counted from 1) is named 2 times in "
       "kda_layers and full_attn_layers, expected once"},
      {"/text_config/linear_attn_config/kda_layers", Json({1, 1, 2}), kBad,
       "text_config.linear_attn_config.kda_layers: layer 1 (counted from 1) is named 2 times in "
       "kda_layers and full_attn_layers, expected once"},
      {"/text_config/linear_attn_config/kda_layers", Json::array({1}), kBad,
       "text_config.linear_attn_config.full_attn_layers: layer 2 (counted from 1) is named 0 times "
       "in kda_layers and full_attn_layers, expected once"},
      {"/text_config/linear_attn_config/num_heads", 65536, kBad,
       "text_config.linear_attn_config.num_heads: num_heads * head_dim = 1048576, at most 1048576"},
      {"/text_config/eos_token_id", 96, kBad,
       "text_config.eos_token_id: expected an integer in [0, 95], found 96"},
      {"/text_config/eos_token_id", Json({2, "x"}), kBad,
       "text_config.eos_token_id[1]: expected an integer in [0, 95], found \"x\""},
      {"/text_config/quantization_config/quant_method", "fp8", kNo,
       "text_config.quantization_config.quant_method: expected \"compressed-tensors\", found "
       "\"fp8\""},
      {"/text_config/quantization_config/format", "int-quantized", kNo,
       "text_config.quantization_config.format: expected \"mxfp4-pack-quantized\", found "
       "\"int-quantized\""},
      {"/text_config/quantization_config/config_groups/group_0/weights/group_size", 16, kNo,
       "text_config.quantization_config.config_groups.group_0.weights.group_size: expected 32, "
       "found 16"},
      {"/vision_config/merge_kernel_size", Json({2}), kBad,
       "vision_config.merge_kernel_size: expected [rows, columns], found 1 items"},
      {"/vision_config/vt_num_attention_heads", 3, kBad,
       "vision_config.qkv_hidden_size: expected a multiple of vt_num_attention_heads = 3, found "
       "64"},
      {"/vision_config/text_hidden_size", 65, kBad,
       "vision_config.text_hidden_size: expected the text model's hidden_size = 64, found 65"},
  };
  for (const Bad& row : rows) {
    SCOPED_TRACE(std::string(row.pointer) + " = " + row.value.dump());
    Json json = tiny();
    json[Json::json_pointer(row.pointer)] = row.value;
    const Error error = refusal(json.dump());
    if (std::string_view(row.message).find("at most 1048576") != std::string_view::npos) {
      EXPECT_EQ(error.message, "accepted");  // 65,536 heads of 16: exactly at the bound
      json[Json::json_pointer("/text_config/linear_attn_config/head_dim")] = 17;
      EXPECT_EQ(refusal(json.dump()).message,
                "config.json: text_config.linear_attn_config.num_heads: num_heads * head_dim = "
                "1114112, at most 1048576");
      continue;
    }
    EXPECT_EQ(error.code, row.code);
    EXPECT_EQ(error.message, "config.json: " + std::string(row.message));
  }
}

TEST(ModelConfigFault, ExpertsOfAllLayersTogetherAreBounded) {
  Json json = tiny();
  Json& text = json["text_config"];
  text["num_hidden_layers"] = 4096;
  text["first_k_dense_replace"] = 0;
  text["attn_res_block_size"] = 64;
  text["linear_attn_config"].erase("full_attn_layers");
  text["num_experts"] = 256;
  EXPECT_EQ(refusal(json.dump()).message, "accepted");
  text["num_experts"] = 257;
  EXPECT_EQ(
      refusal(json.dump()).message,
      "config.json: text_config.num_experts: num_experts in all MoE layers = 1052672, at most "
      "1048576");
}

TEST(ModelConfigFault, SavedBlocksOfAttentionResidualsAreBounded) {
  Json json = tiny();
  Json& text = json["text_config"];
  text["linear_attn_config"].erase("full_attn_layers");
  text["attn_res_block_size"] = 1;
  text["num_hidden_layers"] = 255;
  EXPECT_EQ(refusal(json.dump()).message, "accepted");
  text["num_hidden_layers"] = 256;
  const Error error = refusal(json.dump());
  EXPECT_EQ(error.code, Errc::kUnsupported);
  EXPECT_EQ(error.message,
            "config.json: text_config.attn_res_block_size: 256 layers in blocks of 1 save 256 "
            "blocks, at most 255");
}

TEST(ModelConfigFault, MalformedTextIsRefused) {
  const std::string text = tiny().dump();
  for (std::size_t length = 0; length < text.size(); length += 7) {
    ASSERT_EQ(refusal(text.substr(0, length)).code, Errc::kInvalidArgument) << length;
  }
  struct Row {
    const char *from, *to, *expected;
  };
  constexpr std::array<Row, 5> kRows = {{
      {"\"hidden_size\":64", "\"hidden_size\":NaN", "config.json: text_config.hidden_size: not"},
      {"\"hidden_size\":64", "\"hidden_size\":1e400", "config.json: text_config.hidden_size: not"},
      {"\"hidden_size\":64", "\"hidden_size\":64,\"hidden_size\":65",
       "config.json: text_config.hidden_size: the key stands twice"},
      {"\"hidden_size\":64", "\"hidden_size\":99999999999999999999",
       "config.json: text_config.hidden_size: the integer 99999999999999999999 does not fit"},
      {"\"hidden_size\":64", "\"hidden_size\":-0",
       "config.json: text_config.hidden_size: expected an integer in [1, 1048576], found 0"},
  }};
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.to);
    std::string changed = text;
    const std::size_t at = changed.find(row.from);
    ASSERT_NE(at, std::string::npos);
    changed.replace(at, std::string(row.from).size(), row.to);
    EXPECT_EQ(refusal(changed).message.substr(0, std::string(row.expected).size()), row.expected);
  }
  EXPECT_EQ(refusal("[]").message, "config.json: expected an object, found an array");
  EXPECT_EQ(refusal(std::string(kMaxConfigBytes + 1, ' ')).code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::model
