// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/dispatch.h"
#include "kernels/elementary.h"
#include "kernels/kda.h"
#include "kernels/mla.h"
#include "kernels/norm.h"

namespace daybreak::kernels {

float log_sum_exp(const float* x, std::size_t n) {
  const float max = max_of(x, n);
  if (max == -std::numeric_limits<float>::infinity()) {
    // Nothing, only -inf, or only those and NaN: exp(x - max) would be NaN for all three.
    float sum = max;
    for (std::size_t i = 0; i < n; ++i) {
      sum += x[i];
    }
    return sum;
  }
  return max + log(sum_exp(x, n, max));
}

void mla_reset(const MlaAccumulator& acc, std::size_t rank) {
  *acc.max = -std::numeric_limits<float>::infinity();
  *acc.sum = 0.0f;
  for (std::size_t c = 0; c < rank; ++c) {
    acc.values[c] = 0.0f;
  }
}

void mla_finish(const MlaAccumulator& acc, std::size_t rank, float* out) {
  for (std::size_t c = 0; c < rank; ++c) {
    out[c] = acc.values[c] / *acc.sum;
  }
}

void conv_silu(const float* const* taps, std::size_t taps_count, const float* w,
               std::size_t channel_begin, std::size_t channel_end, float* out) {
  active().conv_silu(taps, taps_count, w, channel_begin, channel_end, out);
}

void kda_gate(const float* z, float a_log, const float* dt_bias, const float* lower_bound,
              std::size_t n, float* decay) {
  active().kda_gate(z, a_log, dt_bias, lower_bound, n, decay);
}

void kda_step(float* state, const KdaInputs& in, std::size_t dk, std::size_t dv, float* out,
              float* written) {
  active().kda_step(state, in, dk, dv, out, written);
}

void kda_write(float* state, const float* k, const float* decay, const float* w, std::size_t dk,
               std::size_t dv) {
  active().kda_write(state, k, decay, w, dk, dv);
}

}  // namespace daybreak::kernels
