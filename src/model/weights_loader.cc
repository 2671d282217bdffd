// SPDX-License-Identifier: Apache-2.0
#include "model/weights_loader.h"

#include <string>

#include "model/weights_binder.h"

namespace daybreak::model {
namespace {

std::vector<float> norm(WeightsBinder& bind, const std::string& stem, std::size_t size) {
  return bind.vector(stem + ".weight", size);
}

MatrixView linear(WeightsBinder& bind, const std::string& stem, std::size_t out, std::size_t in) {
  return bind.matrix(stem + ".weight", out, in);
}

// The query vector only ever meets the normalised source times the norm's gain, so the two fold
// into one vector (spec section 5).
AttnResSite attn_res_site(WeightsBinder& bind, const std::string& stem, std::size_t hidden) {
  AttnResSite folded = norm(bind, stem + "_norm", hidden);
  const std::vector<float> proj = norm(bind, stem + "_proj", hidden);
  for (std::size_t i = 0; i < folded.size() && i < proj.size(); ++i) {
    folded[i] *= proj[i];
  }
  return folded;
}

KdaWeights kda(WeightsBinder& bind, const ModelConfig& config, const std::string& stem) {
  const KdaConfig& c = config.kda;
  const std::size_t width = c.width();
  KdaWeights w;
  w.q = linear(bind, stem + "q_proj", width, config.hidden_size);
  w.k = linear(bind, stem + "k_proj", width, config.hidden_size);
  w.v = linear(bind, stem + "v_proj", width, config.hidden_size);
  w.f_a = linear(bind, stem + "f_a_proj", c.head_dim, config.hidden_size);
  w.f_b = linear(bind, stem + "f_b_proj", width, c.head_dim);
  w.beta = linear(bind, stem + "b_proj", c.heads, config.hidden_size);
  if (c.full_rank_gate) {
    w.gate = FullRankGate{linear(bind, stem + "g_proj", width, config.hidden_size)};
  } else {
    w.gate = LowRankGate{linear(bind, stem + "g_a_proj", c.head_dim, config.hidden_size),
                         linear(bind, stem + "g_b_proj", width, c.head_dim)};
  }
  w.o = linear(bind, stem + "o_proj", config.hidden_size, width);
  w.q_conv = bind.conv(stem + "q_conv1d.weight", width, c.conv_kernel);
  w.k_conv = bind.conv(stem + "k_conv1d.weight", width, c.conv_kernel);
  w.v_conv = bind.conv(stem + "v_conv1d.weight", width, c.conv_kernel);
  w.a_log = bind.padded_vector(stem + "A_log", c.heads);
  w.dt_bias = bind.vector(stem + "dt_bias", width);
  w.o_norm = norm(bind, stem + "o_norm", c.head_dim);
  return w;
}

MlaWeights mla(WeightsBinder& bind, const ModelConfig& config, const std::string& stem) {
  const MlaConfig& c = config.mla;
  MlaWeights w;
  if (c.q_lora_rank) {
    w.q_low_rank = LowRankQuery{linear(bind, stem + "q_a_proj", *c.q_lora_rank, config.hidden_size),
                                norm(bind, stem + "q_a_layernorm", *c.q_lora_rank)};
    w.q = linear(bind, stem + "q_b_proj", c.heads * c.qk_head_dim(), *c.q_lora_rank);
  } else {
    w.q = linear(bind, stem + "q_proj", c.heads * c.qk_head_dim(), config.hidden_size);
  }
  w.kv_a = linear(bind, stem + "kv_a_proj_with_mqa", c.cache_width(), config.hidden_size);
  w.kv_norm = norm(bind, stem + "kv_a_layernorm", c.kv_lora_rank);
  w.kv_b = linear(bind, stem + "kv_b_proj", c.heads * (c.qk_nope_head_dim + c.v_head_dim),
                  c.kv_lora_rank);
  transpose_k_up(w, c.heads, c.qk_nope_head_dim, c.v_head_dim);
  if (c.output_gate) {
    w.gate = linear(bind, stem + "g_proj", c.heads * c.v_head_dim, config.hidden_size);
  }
  w.o = linear(bind, stem + "o_proj", config.hidden_size, c.heads * c.v_head_dim);
  return w;
}

MlpWeights mlp(WeightsBinder& bind, const std::string& stem, std::size_t width, std::size_t in) {
  return {.gate = linear(bind, stem + "gate_proj", width, in),
          .up = linear(bind, stem + "up_proj", width, in),
          .down = linear(bind, stem + "down_proj", in, width)};
}

MoeWeights moe(WeightsBinder& bind, const ModelConfig& config, const std::string& stem) {
  const MoeConfig& c = *config.moe;
  const std::size_t in = c.latent_size.value_or(config.hidden_size);
  MoeWeights w;
  w.router = linear(bind, stem + "gate", c.experts, config.hidden_size);
  w.bias = bind.vector(stem + "gate.e_score_correction_bias", c.experts);
  if (c.latent_size) {
    w.latent_down = linear(bind, stem + "routed_expert_down_proj", in, config.hidden_size);
    w.latent_up = linear(bind, stem + "routed_expert_up_proj", config.hidden_size, in);
    if (c.latent_norm) {
      w.latent_norm = norm(bind, stem + "routed_expert_norm", in);
    }
  }
  w.experts.reserve(c.experts);
  for (std::size_t e = 0; e < c.experts; ++e) {
    const std::string expert = stem + "experts." + std::to_string(e) + ".";
    w.experts.push_back({.gate = bind.quantised_matrix(expert + "w1", c.intermediate_size, in),
                         .up = bind.quantised_matrix(expert + "w3", c.intermediate_size, in),
                         .down = bind.quantised_matrix(expert + "w2", in, c.intermediate_size)});
  }
  if (c.shared_experts > 0) {
    w.shared = mlp(bind, stem + "shared_experts.", c.shared_width(), config.hidden_size);
  }
  return w;
}

LayerWeights layer(WeightsBinder& bind, const ModelConfig& config, const std::string& stem,
                   std::size_t index) {
  LayerWeights w;
  w.input_norm = norm(bind, stem + "input_layernorm", config.hidden_size);
  w.post_attention_norm = norm(bind, stem + "post_attention_layernorm", config.hidden_size);
  if (config.attn_res_block_size) {
    w.attention_site = attn_res_site(bind, stem + "self_attention_res", config.hidden_size);
    w.mlp_site = attn_res_site(bind, stem + "mlp_res", config.hidden_size);
  }
  if (config.is_kda(index)) {
    w.attention = kda(bind, config, stem + "self_attn.");
  } else {
    w.attention = mla(bind, config, stem + "self_attn.");
  }
  if (config.is_moe(index)) {
    w.feed_forward = moe(bind, config, stem + "block_sparse_moe.");
  } else {
    w.feed_forward = mlp(bind, stem + "mlp.", config.intermediate_size, config.hidden_size);
  }
  return w;
}

}  // namespace

Result<ModelWeights> bind_weights(const ModelConfig& config, const Checkpoint& checkpoint,
                                  const BindCallback& progress) {
  WeightsBinder bind(checkpoint);
  const std::string root = bind.contains("language_model.model.embed_tokens.weight") ||
                                   bind.contains("language_model.model.norm.weight")
                               ? "language_model."
                               : "";
  ModelWeights w;
  w.embedding = linear(bind, root + "model.embed_tokens", config.vocab_size, config.hidden_size);
  w.lm_head = config.tie_word_embeddings
                  ? w.embedding
                  : linear(bind, root + "lm_head", config.vocab_size, config.hidden_size);
  w.final_norm = norm(bind, root + "model.norm", config.hidden_size);
  if (config.attn_res_block_size) {
    w.output_site = attn_res_site(bind, root + "model.output_attn_res", config.hidden_size);
  }
  w.layers.reserve(config.layers);
  for (std::size_t i = 0; i < config.layers; ++i) {
    w.layers.push_back(layer(bind, config, root + "model.layers." + std::to_string(i) + ".", i));
    if (progress) {
      progress(i + 1, config.layers);
    }
  }
  DAYBREAK_CHECK_OK(bind.status());
  return w;
}

}  // namespace daybreak::model
