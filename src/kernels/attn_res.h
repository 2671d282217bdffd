// SPDX-License-Identifier: Apache-2.0
#pragma once

// Attention Residuals: the softmax mixture over saved blocks and the running stream (rule 4).
// Source: spec/k3-model.md section 5.

#include <cstddef>

#include "kernels/dispatch.h"

namespace daybreak::kernels {

// The most sources one mixture may have; a model with more is refused when it is loaded.
inline constexpr std::size_t kMaxAttnResSources = 256;

// score_j = dot(v_j, folded_weight) * (1 / sqrt(dot(v_j, v_j) / width + eps)); p = softmax(score);
// out[c] = chain of fma(p_j, v_j[c]) from +0, j ascending: saved blocks in order, then the stream.
//   sources: [n_sources] pointers to [width] ; folded_weight: [width], norm weight * projection
//   out: [width], not one of the sources.  REQUIRES: 1 <= n_sources <= kMaxAttnResSources.
inline void attn_res_mix(const float* const* sources, std::size_t n_sources,
                         const float* folded_weight, float eps, std::size_t width, float* out) {
  active().attn_res_mix(sources, n_sources, folded_weight, eps, width, out);
}

}  // namespace daybreak::kernels
