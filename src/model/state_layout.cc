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

// Everything that decides the state's shape, plus the switches that change its meaning.
std::uint64_t fingerprint_of(const ModelConfig& config, std::uint64_t weights_fingerprint) {
  Fingerprint hash;
  for (const std::size_t value :
       {config.vocab_size, config.hidden_size, config.layers, config.kda.heads, config.kda.head_dim,
        config.kda.conv_kernel, config.mla.heads, config.mla.kv_lora_rank,
        config.mla.qk_rope_head_dim, config.attn_res_block_size.value_or(0)}) {
    hash.add(std::uint64_t{value});
  }
  for (const std::uint8_t is_kda : config.kda_layers) {
    hash.add(std::uint64_t{is_kda});
  }
  hash.add(config.rms_norm_eps);
  hash.add(config.kda.gate_lower_bound.value_or(0.0f));
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
