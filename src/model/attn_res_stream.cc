// SPDX-License-Identifier: Apache-2.0
#include "model/attn_res_stream.h"

#include <algorithm>
#include <array>

#include "kernels/attn_res.h"
#include "kernels/elementwise.h"
#include "kernels/norm.h"

namespace daybreak::model {
namespace {

// The saved blocks and the stream.
static_assert(kMaxSavedBlocks + 1 <= kernels::kMaxAttnResSources);

}  // namespace

ResidualStream::ResidualStream(const ModelConfig& config, std::size_t tokens)
    : hidden_(config.hidden_size),
      capacity_(tokens),
      eps_(config.rms_norm_eps),
      block_size_(config.attn_res_block_size),
      stream_(tokens * config.hidden_size),
      blocks_data_(config.saved_block_count() * tokens * config.hidden_size) {}

void ResidualStream::begin(std::size_t tokens) {
  blocks_ = 0;
  tokens_ = tokens;
}

void ResidualStream::mix_and_norm(std::size_t token, const AttnResSite& site,
                                  const std::vector<float>& norm, float* x) {
  const float* source = stream_.data() + token * hidden_;
  if (blocks_ > 0) {
    std::array<const float*, kernels::kMaxAttnResSources> sources;
    for (std::size_t i = 0; i < blocks_; ++i) {
      sources[i] = block(i) + token * hidden_;
    }
    sources[blocks_] = source;
    kernels::attn_res_mix(sources.data(), blocks_ + 1, site.data(), eps_, hidden_, x);
    source = x;
  }
  kernels::rms_norm(source, norm.data(), eps_, hidden_, x);
}

void ResidualStream::enter_attention(std::size_t layer, const LayerWeights& weights, float* x,
                                     ThreadTeam& team) {
  team.for_ranges(tokens_, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      mix_and_norm(t, weights.attention_site, weights.input_norm, x + t * hidden_);
    }
  });
  // The raw stream is saved, after the mixture used it.
  if (starts_block(layer)) {
    std::copy_n(stream_.data(), tokens_ * hidden_, add_block());
  }
}

void ResidualStream::enter_feed_forward(std::size_t layer, const LayerWeights& weights,
                                        const float* y, float* x, ThreadTeam& team) {
  const bool restart = starts_block(layer);
  team.for_ranges(tokens_, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      float* sum = stream_.data() + t * hidden_;
      if (restart) {
        std::copy_n(y + t * hidden_, hidden_, sum);
      } else {
        kernels::add_inplace(sum, y + t * hidden_, hidden_);
      }
      mix_and_norm(t, weights.mlp_site, weights.post_attention_norm, x + t * hidden_);
    }
  });
}

void ResidualStream::leave_layer(const float* y, ThreadTeam& team) {
  team.for_ranges(tokens_, 1, [&](std::size_t begin, std::size_t end) {
    kernels::add_inplace(stream_.data() + begin * hidden_, y + begin * hidden_,
                         (end - begin) * hidden_);
  });
}

void ResidualStream::finish(std::size_t token, const ModelWeights& weights, float* x) {
  mix_and_norm(token, weights.output_site, weights.final_norm, x);
}

}  // namespace daybreak::model
