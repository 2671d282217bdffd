// SPDX-License-Identifier: Apache-2.0
#include "model/config.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/json_document.h"
#include "base/mapped_file.h"
#include "model/config_keys.h"
#include "model/config_quantization.h"
#include "model/config_vision.h"

namespace daybreak::model {
namespace {

using Range = ConfigKeys::Range;

constexpr Range kWidths{1, kMaxWidth};
constexpr Range kHeadCounts{1, kMaxHeads};
constexpr double kMaxFactor = 1e6;

void read_activation(const ConfigKeys& keys, ModelConfig& config) {
  const std::string name = keys.string("hidden_act");
  if (name == "situ") {
    config.activation = Activation::kSitu;
    // The released class reads a zero as "not given".
    const float beta = keys.number_or("activation_situ_beta", 0.0f, 0.0, kMaxFactor);
    config.situ_beta = beta == 0.0f ? 1.0f : beta;
    config.situ_linear_beta = keys.number_if_set("activation_situ_linear_beta", 1e-6, kMaxFactor);
  } else if (!name.empty() && name != "silu") {
    keys.refuse(Errc::kUnsupported, "hidden_act",
                "expected \"situ\" or \"silu\", found \"" + printable(name) + "\"");
  }
}

// Turns the 1-based lists into one flag per layer; both lists together must name each layer once.
void read_layer_kinds(const ConfigKeys& linear, ModelConfig& config) {
  linear.need("kda_layers");
  if (!linear.clean()) {
    return;  // the number of layers is not known
  }
  const Range layer_numbers{1, config.layers};
  const auto kda = linear.sizes_if_set("kda_layers", layer_numbers, kMaxLayers);
  const auto full = linear.sizes_if_set("full_attn_layers", layer_numbers, kMaxLayers);
  std::vector<int> named(config.layers, 0);
  for (const std::uint64_t number : kda.value_or(std::vector<std::uint64_t>())) {
    config.kda_layers[number - 1] = 1;
    ++named[number - 1];
  }
  for (const std::uint64_t number : full.value_or(std::vector<std::uint64_t>())) {
    ++named[number - 1];
  }
  for (std::size_t i = 0; i < config.layers && linear.clean(); ++i) {
    // Without full_attn_layers, what is not KDA is full attention.
    if (named[i] > 1 || (named[i] == 0 && full)) {
      linear.refuse(Errc::kInvalidArgument, named[i] > 1 ? "kda_layers" : "full_attn_layers",
                    "layer " + std::to_string(i + 1) + " (counted from 1) is named " +
                        std::to_string(named[i]) +
                        " times in kda_layers and full_attn_layers, expected once");
    }
  }
}

void read_kda(const ConfigKeys& linear, ModelConfig& config) {
  KdaConfig& kda = config.kda;
  kda.heads = linear.size("num_heads", kHeadCounts);
  kda.head_dim = linear.size("head_dim", kWidths);
  kda.conv_kernel = linear.size("short_conv_kernel_size", {1, kMaxConvKernel});
  kda.gate_lower_bound = linear.number_if_set("gate_lower_bound", -1000.0, -1e-6);
  kda.full_rank_gate = linear.boolean_or("use_full_rank_gate", false);
  if (kda.width() > kMaxWidth) {
    linear.refuse(Errc::kInvalidArgument, "num_heads",
                  "num_heads * head_dim = " + std::to_string(kda.width()) + ", at most " +
                      std::to_string(kMaxWidth));
  }
}

void read_mla(const ConfigKeys& keys, ModelConfig& config) {
  MlaConfig& mla = config.mla;
  mla.heads = keys.size("num_attention_heads", kHeadCounts);
  mla.q_lora_rank = keys.size_if_set("q_lora_rank", kWidths);
  mla.kv_lora_rank = keys.size("kv_lora_rank", kWidths);
  mla.qk_nope_head_dim = keys.size("qk_nope_head_dim", kWidths);
  mla.qk_rope_head_dim = keys.size("qk_rope_head_dim", {0, kMaxWidth});
  mla.v_head_dim = keys.size("v_head_dim", kWidths);
  mla.output_gate = keys.boolean_or("mla_use_output_gate", false);
  const std::size_t widest =
      mla.heads * std::max(mla.qk_head_dim(), mla.qk_nope_head_dim + mla.v_head_dim);
  if (widest > kMaxWidth) {
    keys.refuse(Errc::kInvalidArgument, "num_attention_heads",
                "heads times head size = " + std::to_string(widest) + ", at most " +
                    std::to_string(kMaxWidth));
  }
  const std::size_t kv_heads = keys.size_or("num_key_value_heads", mla.heads, kHeadCounts);
  if (kv_heads != mla.heads) {
    keys.refuse(Errc::kUnsupported, "num_key_value_heads",
                "latent attention has one latent for all heads: expected num_attention_heads = " +
                    std::to_string(mla.heads) + ", found " + std::to_string(kv_heads));
  }
  keys.need("mla_use_nope");
  if (keys.has("mla_use_nope") && !keys.boolean_or("mla_use_nope", true)) {
    keys.refuse(Errc::kUnsupported, "mla_use_nope",
                "expected true: this family never rotates queries and keys");
  }
}

void check_groups(const ConfigKeys& keys, const MoeConfig& moe) {
  const auto refuse = [&](std::string_view key, const std::string& what) {
    keys.refuse(Errc::kInvalidArgument, key, what);
  };
  if (moe.experts_per_token > moe.experts) {
    return refuse("num_experts_per_token",
                  "expected at most num_experts = " + std::to_string(moe.experts) + ", found " +
                      std::to_string(moe.experts_per_token));
  }
  if (moe.experts % moe.groups != 0) {
    return refuse("num_expert_group",
                  "expected a divisor of num_experts = " + std::to_string(moe.experts) +
                      ", found " + std::to_string(moe.groups));
  }
  if (moe.topk_groups > moe.groups) {
    return refuse("topk_group",
                  "expected at most num_expert_group = " + std::to_string(moe.groups) + ", found " +
                      std::to_string(moe.topk_groups));
  }
  if (moe.groups == moe.topk_groups) {
    return;  // no group is ever masked
  }
  const std::size_t group_size = moe.experts / moe.groups;
  if (group_size < 2) {
    return refuse("num_expert_group",
                  "a group is scored by its two best experts, but has only one");
  }
  if (moe.experts_per_token > moe.topk_groups * group_size) {
    return refuse("num_experts_per_token", "expected at most the " +
                                               std::to_string(moe.topk_groups * group_size) +
                                               " experts of topk_group groups, found " +
                                               std::to_string(moe.experts_per_token));
  }
  if (!keys.boolean_or("use_grouped_topk", true)) {
    keys.refuse(Errc::kUnsupported, "use_grouped_topk",
                "expected true when topk_group is less than num_expert_group");
  }
}

void read_router(const ConfigKeys& keys, MoeConfig& moe) {
  const std::string router = keys.string("moe_router_activation_func");
  if (router == "softmax") {
    moe.router = RouterActivation::kSoftmax;
  } else if (!router.empty() && router != "sigmoid") {
    keys.refuse(Errc::kUnsupported, "moe_router_activation_func",
                "expected \"sigmoid\" or \"softmax\", found \"" + printable(router) + "\"");
  }
  const std::string method = keys.string_or("topk_method", "noaux_tc");
  if (method != "noaux_tc") {
    keys.refuse(Errc::kUnsupported, "topk_method",
                "expected \"noaux_tc\", found \"" + printable(method) + "\"");
  }
  moe.renormalize = keys.boolean("moe_renormalize");
  moe.routed_scaling_factor = keys.number("routed_scaling_factor", 1e-6, kMaxFactor);
}

void read_moe(const ConfigKeys& keys, ModelConfig& config) {
  if (!keys.has("num_experts")) {
    return;  // every layer has a dense MLP
  }
  MoeConfig moe;
  moe.experts = keys.size("num_experts", {1, kMaxExperts});
  moe.experts_per_token = keys.size("num_experts_per_token", {1, kMaxExperts});
  moe.shared_experts = keys.size_or("num_shared_experts", 0, {0, 1024});
  moe.intermediate_size = keys.size("moe_intermediate_size", kWidths);
  moe.latent_size = keys.size_if_set("routed_expert_hidden_size", kWidths);
  // Without a latent there is nothing for the switch to normalise.
  moe.latent_norm = keys.boolean_or("latent_moe_use_norm", false) && moe.latent_size.has_value();
  moe.groups = keys.size_or("num_expert_group", 1, {1, kMaxExperts});
  moe.topk_groups = keys.size_or("topk_group", 1, {1, kMaxExperts});
  moe.first_dense_layers = keys.size_or("first_k_dense_replace", 0, {0, kMaxLayers});
  moe.layer_freq = keys.size_or("moe_layer_freq", 1, {1, kMaxLayers});
  if (moe.shared_width() > kMaxWidth) {
    keys.refuse(Errc::kInvalidArgument, "num_shared_experts",
                "num_shared_experts * moe_intermediate_size = " +
                    std::to_string(moe.shared_width()) + ", at most " + std::to_string(kMaxWidth));
  }
  read_router(keys, moe);
  if (keys.clean()) {
    check_groups(keys, moe);
  }
  config.moe = moe;
  // Each has tensors of its own, which are listed and looked up before any of them is known to be
  // there.
  const std::uint64_t experts = std::uint64_t{moe.experts} * config.moe_layer_count();
  if (experts > kMaxRoutedExperts) {
    keys.refuse(Errc::kInvalidArgument, "num_experts",
                "num_experts in all MoE layers = " + std::to_string(experts) + ", at most " +
                    std::to_string(kMaxRoutedExperts));
  }
}

std::optional<TokenId> read_id(const ConfigKeys& top, const ConfigKeys& text, std::string_view key,
                               std::size_t vocab_size) {
  std::vector<TokenId> ids;
  top.add_ids(key, vocab_size, 1, ids);
  if (ids.empty() && !top.has(key)) {
    text.add_ids(key, vocab_size, 1, ids);
  }
  return ids.empty() ? std::nullopt : std::optional(ids.front());
}

void read_ids(const ConfigKeys& top, const ConfigKeys& text, ModelConfig& config) {
  config.bos_id = read_id(top, text, "bos_token_id", config.vocab_size);
  config.pad_id = read_id(top, text, "pad_token_id", config.vocab_size);
  config.media_placeholder_id = read_id(top, text, "media_placeholder_token_id", config.vocab_size);
  top.add_ids("eos_token_id", config.vocab_size, kMaxEosIds, config.eos_ids);
  if (config.layout == ConfigLayout::kNested) {
    text.add_ids("eos_token_id", config.vocab_size, kMaxEosIds, config.eos_ids);
  }
}

// The outer object's type wins: K3 nests a text model whose own type is kimi_linear.
void read_model_type(const ConfigKeys& keys, ModelConfig& config) {
  const std::string type = keys.string_or("model_type", "kimi_linear");
  if (type != "kimi_k3" && type != "kimi_linear") {
    keys.refuse(Errc::kUnsupported, "model_type",
                "expected \"kimi_k3\" or \"kimi_linear\", found \"" + printable(type) + "\"");
  }
  if (config.model_type.empty()) {
    config.model_type = type;
  }
}

void read_attention(const ConfigKeys& text, ModelConfig& config) {
  config.kda_layers.assign(config.layers, 0);
  // An explicit null is a model of full attention layers only; a missing key is a mistake.
  if (!text.value().find("linear_attn_config")) {
    text.need("linear_attn_config");
  }
  if (const auto linear = text.object_if_set("linear_attn_config")) {
    read_layer_kinds(*linear, config);
    if (config.kda_layer_count() > 0 || !linear->has("kda_layers")) {
      read_kda(*linear, config);
    }
  }
  if (config.mla_layer_count() > 0) {
    read_mla(text, config);
  }
}

void read_text(const ConfigKeys& text, ModelConfig& config) {
  read_model_type(text, config);
  config.vocab_size = text.size("vocab_size", {1, kMaxVocab});
  config.hidden_size = text.size("hidden_size", kWidths);
  config.layers = text.size("num_hidden_layers", {1, kMaxLayers});
  config.rms_norm_eps = text.number_or("rms_norm_eps", 1e-6f, 1e-12, 1.0);
  config.attn_res_block_size = text.size_if_set("attn_res_block_size", {1, kMaxLayers});
  if (config.saved_block_count() > kMaxSavedBlocks) {
    text.refuse(Errc::kUnsupported, "attn_res_block_size",
                std::to_string(config.layers) + " layers in blocks of " +
                    std::to_string(*config.attn_res_block_size) + " save " +
                    std::to_string(config.saved_block_count()) + " blocks, at most " +
                    std::to_string(kMaxSavedBlocks));
  }
  config.max_positions =
      text.size_or("max_position_embeddings",
                   text.size_or("model_max_length", config.max_positions, {1, kMaxPositions}),
                   {1, kMaxPositions});
  read_activation(text, config);
  read_attention(text, config);
  read_moe(text, config);
  if (config.moe_layer_count() < config.layers) {
    config.intermediate_size = text.size("intermediate_size", kWidths);
  }
}

}  // namespace

std::size_t ModelConfig::kda_layer_count() const {
  return static_cast<std::size_t>(std::ranges::count(kda_layers, std::uint8_t{1}));
}

std::size_t ModelConfig::moe_layer_count() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    count += is_moe(i) ? 1 : 0;
  }
  return count;
}

Result<ModelConfig> parse_config(std::string_view json, std::string_view name) {
  DAYBREAK_TRY(const JsonDocument document,
               JsonDocument::parse(json, name, {.max_bytes = kMaxConfigBytes, .max_depth = 64}));
  const JsonValue root = document.root();
  if (!root.is_object()) {
    return root.expected("an object");
  }
  ConfigProblems problems(root.where());
  const ConfigKeys top(root, problems);
  ModelConfig config;
  config.layout = root.find("text_config") ? ConfigLayout::kNested : ConfigLayout::kTopLevel;
  if (config.layout == ConfigLayout::kNested) {
    read_model_type(top, config);
  }
  const auto text = config.layout == ConfigLayout::kNested ? top.object_if_set("text_config")
                                                           : std::optional(top);
  if (!text) {
    top.need("text_config");
    DAYBREAK_CHECK_OK(problems.status());
  }
  read_text(*text, config);
  if (problems.clean()) {
    read_ids(top, *text, config);
  }
  config.tie_word_embeddings = top.boolean_or("tie_word_embeddings", false) ||
                               text->boolean_or("tie_word_embeddings", false);
  config.mxfp4_experts = read_quantization(top);
  if (config.layout == ConfigLayout::kNested && read_quantization(*text)) {
    config.mxfp4_experts = true;
  }
  if (const auto vision = top.object_if_set("vision_config")) {
    config.vision = read_vision(*vision, config.hidden_size);
  }
  DAYBREAK_CHECK_OK(problems.status());
  return config;
}

Result<ModelConfig> load_config(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool is_directory = std::filesystem::is_directory(path, ignored);
  const std::filesystem::path file = is_directory ? path / "config.json" : path;
  DAYBREAK_TRY(const std::string json, read_small_file(file, kMaxConfigBytes));
  DAYBREAK_TRY(ModelConfig config, parse_config(json, file.string()));

  const std::filesystem::path generation = file.parent_path() / "generation_config.json";
  const auto text = read_small_file(generation, kMaxConfigBytes);
  if (!text && text.error().code == Errc::kNotFound) {
    return config;
  }
  DAYBREAK_CHECK_OK(text);
  DAYBREAK_CHECK_OK(add_generation_config(*text, generation.string(), config));
  return config;
}

Status add_generation_config(std::string_view json, std::string_view name, ModelConfig& config) {
  DAYBREAK_TRY(const JsonDocument document,
               JsonDocument::parse(json, name, {.max_bytes = kMaxConfigBytes, .max_depth = 64}));
  if (!document.root().is_object()) {
    return document.root().expected("an object");
  }
  ConfigProblems problems(document.root().where());
  ConfigKeys(document.root(), problems)
      .add_ids("eos_token_id", config.vocab_size, kMaxEosIds, config.eos_ids);
  return problems.status();
}

}  // namespace daybreak::model
