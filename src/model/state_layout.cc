// SPDX-License-Identifier: Apache-2.0
#include "model/state_layout.h"

#include <bit>

namespace daybreak::model {
namespace {

// FNV-1a over 64-bit words: the values are small and few, so mixing quality is no concern.
class Fingerprint {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash_ = (hash_ ^ ((value >> shift) & 0xff)) * 0x100000001b3u;
    }
  }
  void add(float value) { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

void add_moe(const MoeConfig& moe, Fingerprint& hash) {
  for (const std::size_t value :
       {moe.experts, moe.experts_per_token, moe.shared_experts, moe.intermediate_size,
        moe.latent_size.value_or(0), std::size_t{moe.latent_norm}, moe.groups, moe.topk_groups,
        static_cast<std::size_t>(moe.router), std::size_t{moe.renormalize}, moe.first_dense_layers,
        moe.layer_freq}) {
    hash.add(std::uint64_t{value});
  }
  hash.add(moe.routed_scaling_factor);
}

// Everything of the text model that computes: a state made with one switch set otherwise would go
// on in this model, wrongly and without a sign of it. Ids and bounds compute nothing.
std::uint64_t fingerprint_of(const ModelConfig& config, std::uint64_t weights_fingerprint) {
  Fingerprint hash;
  for (const std::size_t value :
       {config.vocab_size, config.hidden_size, config.layers, config.intermediate_size,
        static_cast<std::size_t>(config.activation), config.attn_res_block_size.value_or(0),
        std::size_t{config.tie_word_embeddings}, config.kda.heads, config.kda.head_dim,
        config.kda.conv_kernel, std::size_t{config.kda.full_rank_gate}, config.mla.heads,
        config.mla.q_lora_rank.value_or(0), config.mla.kv_lora_rank, config.mla.qk_nope_head_dim,
        config.mla.qk_rope_head_dim, config.mla.v_head_dim, std::size_t{config.mla.output_gate},
        std::size_t{config.moe.has_value()}}) {
    hash.add(std::uint64_t{value});
  }
  for (const std::uint8_t is_kda : config.kda_layers) {
    hash.add(std::uint64_t{is_kda});
  }
  hash.add(config.rms_norm_eps);
  hash.add(config.situ_beta);
  hash.add(config.situ_linear_beta.value_or(0.0f));      // never 0 when set
  hash.add(config.kda.gate_lower_bound.value_or(0.0f));  // likewise
  if (config.moe) {
    add_moe(*config.moe, hash);
  }
  hash.add(weights_fingerprint);
  return hash.value();
}

}  // namespace

StateLayout StateLayout::from(const ModelConfig& config, std::uint64_t weights_fingerprint) {
  StateLayout layout;
  layout.kda_layers = config.kda_layer_count();
  if (layout.kda_layers > 0) {
    layout.kda_heads = config.kda.heads;
    layout.kda_head_dim = config.kda.head_dim;
    layout.conv_taps = config.kda.conv_kernel;
    layout.conv_channels = 3 * config.kda.width();
  }
  layout.mla_layers = config.mla_layer_count();
  if (layout.mla_layers > 0) {
    layout.latent_width = config.mla.cache_width();
  }
  layout.max_positions = config.max_positions;
  layout.fingerprint = fingerprint_of(config, weights_fingerprint);
  return layout;
}

}  // namespace daybreak::model
