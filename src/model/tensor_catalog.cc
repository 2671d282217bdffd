// SPDX-License-Identifier: Apache-2.0
#include "model/tensor_catalog.h"

#include <algorithm>
#include <array>

#include "model/tensor_catalog_lister.h"

namespace daybreak::model {
namespace {

constexpr std::array<std::string_view, kTensorRoleCount> kRoleNames = {"embedding",
                                                                       "head",
                                                                       "norms",
                                                                       "attention_residuals",
                                                                       "kda",
                                                                       "mla",
                                                                       "dense_mlp",
                                                                       "router",
                                                                       "latent",
                                                                       "shared_experts",
                                                                       "routed_experts",
                                                                       "vision_tower",
                                                                       "projector"};

using Role = TensorRole;

void list_kda(TensorLister& list, const ModelConfig& config, const std::string& stem) {
  const KdaConfig& kda = config.kda;
  const std::uint64_t width = kda.width();
  const std::uint64_t hidden = config.hidden_size;
  for (const char* x : {"q", "k", "v"}) {
    list.matrix(stem + x + "_proj.weight", Role::kKda, width, hidden);
  }
  for (const char* x : {"q", "k", "v"}) {
    list.add({.name = stem + x + "_conv1d.weight",
              .role = Role::kKda,
              .shape = {width, 1, kda.conv_kernel},
              .dtype = DType::kF32,
              .rule = ShapeRule::kConv});
  }
  list.matrix(stem + "f_a_proj.weight", Role::kKda, kda.head_dim, hidden);
  list.matrix(stem + "f_b_proj.weight", Role::kKda, width, kda.head_dim);
  list.matrix(stem + "b_proj.weight", Role::kKda, kda.heads, hidden);
  // K3 pads A_log to the head size; Kimi-Linear stores it four-dimensional and unpadded.
  const bool padded = config.layout == ConfigLayout::kNested;
  const std::uint64_t stored = padded ? std::max(kda.heads, kda.head_dim) : kda.heads;
  list.add({.name = stem + "A_log",
            .role = Role::kKda,
            .shape = padded ? std::vector<std::uint64_t>{stored}
                            : std::vector<std::uint64_t>{1, 1, stored, 1},
            .dtype = DType::kF32,
            .rule = ShapeRule::kPadded,
            .min_elements = kda.heads});
  list.vector(stem + "dt_bias", Role::kKda, width, DType::kF32);
  list.vector(stem + "o_norm.weight", Role::kKda, kda.head_dim, DType::kF32);
  if (kda.full_rank_gate) {
    list.matrix(stem + "g_proj.weight", Role::kKda, width, hidden);
  } else {
    list.matrix(stem + "g_a_proj.weight", Role::kKda, kda.head_dim, hidden);
    list.matrix(stem + "g_b_proj.weight", Role::kKda, width, kda.head_dim);
  }
  list.matrix(stem + "o_proj.weight", Role::kKda, hidden, width);
}

void list_mla(TensorLister& list, const ModelConfig& config, const std::string& stem) {
  const MlaConfig& mla = config.mla;
  const std::uint64_t hidden = config.hidden_size;
  const std::uint64_t query = mla.heads * mla.qk_head_dim();
  const std::uint64_t value = mla.heads * mla.v_head_dim;
  if (mla.q_lora_rank) {
    list.matrix(stem + "q_a_proj.weight", Role::kMla, *mla.q_lora_rank, hidden);
    list.vector(stem + "q_a_layernorm.weight", Role::kMla, *mla.q_lora_rank);
    list.matrix(stem + "q_b_proj.weight", Role::kMla, query, *mla.q_lora_rank);
  } else {
    list.matrix(stem + "q_proj.weight", Role::kMla, query, hidden);
  }
  list.matrix(stem + "kv_a_proj_with_mqa.weight", Role::kMla, mla.cache_width(), hidden);
  list.vector(stem + "kv_a_layernorm.weight", Role::kMla, mla.kv_lora_rank);
  list.matrix(stem + "kv_b_proj.weight", Role::kMla,
              mla.heads * (mla.qk_nope_head_dim + mla.v_head_dim), mla.kv_lora_rank);
  if (mla.output_gate) {
    list.matrix(stem + "g_proj.weight", Role::kMla, value, hidden);
  }
  list.matrix(stem + "o_proj.weight", Role::kMla, hidden, value);
}

void list_mlp(TensorLister& list, Role role, const std::string& stem, std::uint64_t width,
              std::uint64_t hidden) {
  list.matrix(stem + "gate_proj.weight", role, width, hidden);
  list.matrix(stem + "up_proj.weight", role, width, hidden);
  list.matrix(stem + "down_proj.weight", role, hidden, width);
}

void list_moe(TensorLister& list, const ModelConfig& config, const std::string& stem) {
  const MoeConfig& moe = *config.moe;
  const std::uint64_t hidden = config.hidden_size;
  const std::uint64_t latent = moe.latent_size.value_or(config.hidden_size);
  list.matrix(stem + "gate.weight", Role::kRouter, moe.experts, hidden);
  list.vector(stem + "gate.e_score_correction_bias", Role::kRouter, moe.experts, DType::kF32);
  if (moe.latent_size) {
    list.matrix(stem + "routed_expert_down_proj.weight", Role::kLatent, latent, hidden);
    list.matrix(stem + "routed_expert_up_proj.weight", Role::kLatent, hidden, latent);
  }
  if (moe.latent_norm) {
    list.vector(stem + "routed_expert_norm.weight", Role::kLatent, latent);
  }
  if (moe.shared_experts > 0) {
    list_mlp(list, Role::kSharedExperts, stem + "shared_experts.", moe.shared_width(), hidden);
  }
  for (std::size_t e = 0; e < moe.experts; ++e) {
    const std::string expert = stem + "experts." + std::to_string(e) + ".";
    list.expert_matrix(expert + "w1", moe.intermediate_size, latent);
    list.expert_matrix(expert + "w2", latent, moe.intermediate_size);
    list.expert_matrix(expert + "w3", moe.intermediate_size, latent);
  }
}

void list_attn_res_site(TensorLister& list, const std::string& stem, std::uint64_t hidden) {
  list.vector(stem + "_norm.weight", Role::kAttentionResidual, hidden);
  list.add({.name = stem + "_proj.weight",
            .role = Role::kAttentionResidual,
            .shape = {1, hidden},
            .rule = ShapeRule::kVector});
}

void list_layer(TensorLister& list, const ModelConfig& config, const std::string& stem,
                std::size_t layer) {
  list.vector(stem + "input_layernorm.weight", Role::kNorm, config.hidden_size);
  list.vector(stem + "post_attention_layernorm.weight", Role::kNorm, config.hidden_size);
  if (config.attn_res_block_size) {
    list_attn_res_site(list, stem + "self_attention_res", config.hidden_size);
    list_attn_res_site(list, stem + "mlp_res", config.hidden_size);
  }
  if (config.is_kda(layer)) {
    list_kda(list, config, stem + "self_attn.");
  } else {
    list_mla(list, config, stem + "self_attn.");
  }
  if (config.is_moe(layer)) {
    list_moe(list, config, stem + "block_sparse_moe.");
  } else {
    list_mlp(list, Role::kDenseMlp, stem + "mlp.", config.intermediate_size, config.hidden_size);
  }
}

void list_vision(TensorLister& list, const VisionConfig& vision, std::uint64_t text_hidden) {
  const std::uint64_t width = vision.hidden_size;
  const std::uint64_t qkv = vision.qkv_hidden_size;
  list.add({.name = "vision_tower.patch_embed.proj.weight",
            .role = Role::kVisionTower,
            .shape = {width, 3, vision.patch_size, vision.patch_size}});
  list.add({.name = "vision_tower.patch_embed.pos_emb.weight",
            .role = Role::kVisionTower,
            .shape = {vision.pos_emb_height, vision.pos_emb_width, width}});
  for (std::size_t i = 0; i < vision.layers; ++i) {
    const std::string block = "vision_tower.encoder.blocks." + std::to_string(i) + ".";
    list.vector(block + "norm0.weight", Role::kVisionTower, width);
    list.vector(block + "norm1.weight", Role::kVisionTower, width);
    list.matrix(block + "wqkv.weight", Role::kVisionTower, 3 * qkv, width);
    list.matrix(block + "wo.weight", Role::kVisionTower, width, qkv);
    list.matrix(block + "mlp.fc0.weight", Role::kVisionTower, vision.intermediate_size, width);
    list.matrix(block + "mlp.fc1.weight", Role::kVisionTower, width, vision.intermediate_size);
  }
  list.vector("vision_tower.encoder.final_layernorm.weight", Role::kVisionTower, width);
  const std::uint64_t merged = vision.merged_width();
  list.matrix("mm_projector.proj.0.weight", Role::kProjector, merged, merged);
  list.matrix("mm_projector.proj.2.weight", Role::kProjector, text_hidden, merged);
  list.vector("mm_projector.post_norm.weight", Role::kProjector, text_hidden);
}

}  // namespace

std::string_view to_string(TensorRole role) { return kRoleNames[static_cast<std::size_t>(role)]; }

TensorNaming::TensorNaming(const ModelConfig& config, const Checkpoint* checkpoint)
    : prefix_(config.layout == ConfigLayout::kNested ? "language_model." : ""),
      checkpoint_(checkpoint),
      packed_by_config_(config.mxfp4_experts) {
  if (checkpoint != nullptr) {
    const bool nested = checkpoint->contains("language_model.model.embed_tokens.weight") ||
                        checkpoint->contains("language_model.model.norm.weight");
    prefix_ = nested ? "language_model." : "";
  }
}

bool TensorNaming::is_packed(const std::string& stem) const {
  return checkpoint_ != nullptr ? checkpoint_->contains(stem + ".weight_packed")
                                : packed_by_config_;
}

void for_each_tensor(const ModelConfig& config, const TensorNaming& naming,
                     const std::function<void(const TensorSpec&)>& visit) {
  TensorLister list(naming, visit);
  const std::string model = naming.prefix() + "model.";
  list.matrix(model + "embed_tokens.weight", Role::kEmbedding, config.vocab_size,
              config.hidden_size);
  for (std::size_t i = 0; i < config.layers; ++i) {
    list.enter_layer(i);
    list_layer(list, config, model + "layers." + std::to_string(i) + ".", i);
  }
  list.leave_layers();
  list.vector(model + "norm.weight", Role::kNorm, config.hidden_size);
  if (config.attn_res_block_size) {
    list_attn_res_site(list, model + "output_attn_res", config.hidden_size);
  }
  if (!config.tie_word_embeddings) {
    list.matrix(naming.prefix() + "lm_head.weight", Role::kHead, config.vocab_size,
                config.hidden_size);
  }
  if (config.vision) {
    list_vision(list, *config.vision, config.hidden_size);
  }
}

}  // namespace daybreak::model
