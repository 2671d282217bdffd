// SPDX-License-Identifier: Apache-2.0
#pragma once

// What config.json says about a model of the Kimi family (K3, Kimi-Linear): every size and switch
// that the forward pass, the tensor catalog and the memory plan need, checked once when it is read.
// The file may hold the text model's keys at top level (Kimi-Linear) or inside `text_config` (K3).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::model {

// The low-rank MLA norms (q_a_layernorm, kv_a_layernorm) use this whatever rms_norm_eps says: the
// released code builds them with the class default.
inline constexpr float kLowRankNormEps = 1e-6f;

// Bounds on what a config may ask for; one past each is refused by name.
inline constexpr std::size_t kMaxConfigBytes = std::size_t{16} << 20;
inline constexpr std::uint64_t kMaxLayers = 4096;
inline constexpr std::uint64_t kMaxVocab = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kMaxExperts = 65536;                         // of one layer
inline constexpr std::uint64_t kMaxRoutedExperts = std::uint64_t{1} << 20;  // of all layers
inline constexpr std::uint64_t kMaxWidth = std::uint64_t{1} << 20;          // any single dimension
inline constexpr std::uint64_t kMaxHeads = 65536;
inline constexpr std::uint64_t kMaxConvKernel = 8;
inline constexpr std::uint64_t kMaxPositions = std::uint64_t{1} << 32;
inline constexpr std::size_t kMaxEosIds = 256;

// Attention residuals mix at most so many saved blocks.
inline constexpr std::size_t kMaxSavedBlocks = 255;

enum class Activation : std::uint8_t { kSilu, kSitu };
enum class RouterActivation : std::uint8_t { kSigmoid, kSoftmax };

// Where the text model's keys stand in config.json; also decides what a bare config is assumed to
// name its tensors ("language_model.model.layers.N" or "model.layers.N").
enum class ConfigLayout : std::uint8_t { kNested, kTopLevel };

// Kimi Delta Attention. Meaningful only if the model has KDA layers.
struct KdaConfig {
  std::size_t heads = 0;
  std::size_t head_dim = 0;               // d_k = d_v; also the rank of f_a and g_a
  std::size_t conv_kernel = 0;            // taps, the current token included
  std::optional<float> gate_lower_bound;  // set: scaled sigmoid gate; unset: softplus gate
  bool full_rank_gate = false;            // g_proj, else g_a_proj and g_b_proj
  [[nodiscard]] std::size_t width() const { return heads * head_dim; }
};

// Gated multi-head latent attention. Meaningful only if the model has MLA layers.
struct MlaConfig {
  std::size_t heads = 0;
  std::optional<std::size_t> q_lora_rank;  // unset: one q_proj
  std::size_t kv_lora_rank = 0;
  std::size_t qk_nope_head_dim = 0;
  std::size_t qk_rope_head_dim = 0;  // scored and cached, never rotated
  std::size_t v_head_dim = 0;
  bool output_gate = false;
  [[nodiscard]] std::size_t qk_head_dim() const { return qk_nope_head_dim + qk_rope_head_dim; }
  [[nodiscard]] std::size_t cache_width() const { return kv_lora_rank + qk_rope_head_dim; }
};

struct MoeConfig {
  std::size_t experts = 0;
  std::size_t experts_per_token = 0;
  std::size_t shared_experts = 0;          // stored merged; 0: no shared branch
  std::size_t intermediate_size = 0;       // of one expert
  std::optional<std::size_t> latent_size;  // routed_expert_hidden_size; unset: full width
  bool latent_norm = false;                // routed_expert_norm; only with latent_size
  std::size_t groups = 1;                  // num_expert_group
  std::size_t topk_groups = 1;             // topk_group; == groups means no group masking
  RouterActivation router = RouterActivation::kSigmoid;
  bool renormalize = true;
  float routed_scaling_factor = 1.0f;
  std::size_t first_dense_layers = 0;  // first_k_dense_replace
  std::size_t layer_freq = 1;          // moe_layer_freq
  [[nodiscard]] std::size_t shared_width() const { return shared_experts * intermediate_size; }
};

// The vision tower and projector, as far as tensor shapes depend on it.
struct VisionConfig {
  std::size_t layers = 0;
  std::size_t hidden_size = 0;
  std::size_t intermediate_size = 0;
  std::size_t heads = 0;
  std::size_t qkv_hidden_size = 0;
  std::size_t patch_size = 0;
  std::size_t pos_emb_height = 0;
  std::size_t pos_emb_width = 0;
  std::size_t merge_height = 0;
  std::size_t merge_width = 0;
  std::size_t mm_hidden_size = 0;  // width of one patch entering the merge
  float projector_norm_eps = 1e-5f;
  [[nodiscard]] std::size_t merged_width() const {
    return mm_hidden_size * merge_height * merge_width;
  }
};

struct ModelConfig {
  ConfigLayout layout = ConfigLayout::kTopLevel;
  std::string model_type;
  std::size_t vocab_size = 0;
  std::size_t hidden_size = 0;
  std::size_t layers = 0;
  std::size_t intermediate_size = 0;  // dense MLP; 0 if no layer is dense
  float rms_norm_eps = 1e-6f;
  Activation activation = Activation::kSilu;
  float situ_beta = 1.0f;                          // caps the gate branch
  std::optional<float> situ_linear_beta;           // caps the up branch; unset: not capped
  std::optional<std::size_t> attn_res_block_size;  // unset: ordinary residuals
  bool tie_word_embeddings = false;
  bool mxfp4_experts = false;  // quantization_config asks for it; the tensors decide
  std::size_t max_positions = 1048576;
  std::optional<TokenId> bos_id;
  std::optional<TokenId> pad_id;
  std::vector<TokenId> eos_ids;  // config.json's, then generation_config.json's; no duplicates
  std::optional<TokenId> media_placeholder_id;
  std::vector<std::uint8_t> kda_layers;  // [layers], 1 where layer i (from 0) is KDA, else MLA
  KdaConfig kda;
  MlaConfig mla;
  std::optional<MoeConfig> moe;  // unset: every layer has a dense MLP
  std::optional<VisionConfig> vision;

  // REQUIRES: i < layers.
  [[nodiscard]] bool is_kda(std::size_t i) const { return kda_layers[i] != 0; }
  [[nodiscard]] bool is_moe(std::size_t i) const {
    return moe && i >= moe->first_dense_layers && i % moe->layer_freq == 0;
  }
  [[nodiscard]] std::size_t kda_layer_count() const;
  // Blocks that attention residuals save in a pass; 0 with ordinary residuals.
  [[nodiscard]] std::size_t saved_block_count() const {
    return attn_res_block_size ? (layers + *attn_res_block_size - 1) / *attn_res_block_size : 0;
  }
  [[nodiscard]] std::size_t mla_layer_count() const { return layers - kda_layer_count(); }
  [[nodiscard]] std::size_t moe_layer_count() const;
};

// Reads `path`, a config.json or the directory that holds it; beside it, generation_config.json
// adds its eos ids if it exists. Errors: kNotFound         no such file
//         kInvalidArgument  not JSON, a duplicate key, a missing key (all of them in one message),
//         a
//                           wrong type, a value out of range, or values that contradict each other
//         kUnsupported      a well-formed model that this build has no layers for
//         kTooLarge         longer than kMaxConfigBytes
//         kIo               the file cannot be read
[[nodiscard]] Result<ModelConfig> load_config(const std::filesystem::path& path);

// The same for text in memory; `name` stands for the file in messages.
[[nodiscard]] Result<ModelConfig> parse_config(std::string_view json, std::string_view name);

// Adds the eos ids of a generation_config.json to `config`.
// Errors: kInvalidArgument  not JSON, or an id of the wrong type or outside the vocabulary.
[[nodiscard]] Status add_generation_config(std::string_view json, std::string_view name,
                                           ModelConfig& config);

}  // namespace daybreak::model
