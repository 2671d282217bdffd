// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kimi Delta Attention in its recurrent form (rule 6), and the short convolution before it.
// Source: spec/k3-model.md section 3. The functions are declared here and call the active table.

#include <cstddef>

namespace daybreak::kernels {

// |x| below this becomes +0 when a state element is written (rule 3). Without it, channels that
// decay hard reach subnormals after some 18 steps, and each multiplication with one costs a trap.
inline constexpr float kStateFlushBelow = 0x1p-100f;

// The inputs of one head for one token.
struct KdaInputs {
  const float* q;      // [dk], normalised and scaled
  const float* k;      // [dk], normalised
  const float* decay;  // [dk], exp(g)
  const float* v;      // [dv]
  float beta;
};

// out[c] = silu(y), y = chain of fma(w[c * taps_count + j], taps[j][c]) from +0, j = 0 ..
// taps_count-1, for c in [channel_begin, channel_end). taps[taps_count - 1] is the current token.
//   taps: pointers to [channels], oldest first ; w: [channels, taps_count] ; out: [channels]
//   REQUIRES: taps_count >= 1.
void conv_silu(const float* const* taps, std::size_t taps_count, const float* w,
               std::size_t channel_begin, std::size_t channel_end, float* out);

// decay[i] = exp(g), a = exp(a_log):
//   with a lower bound: g = *lower_bound * sigmoid(a * (z[i] + dt_bias[i]))
//   without (null):     g = -a * softplus(z[i] + dt_bias[i])
// for one head.  z, dt_bias, decay: [n].
void kda_gate(const float* z, float a_log, const float* dt_bias, const float* lower_bound,
              std::size_t n, float* decay);

// One step of one head, for each column c:
//   d_k  = state[k][c] * decay[k]                     (rounded once; read and write use the same)
//   u    = chain of fma(k[k], d_k) from +0, k ascending
//   w    = beta * (v[c] - u)
//   state[k][c] = flush(fma(k[k], w, d_k))
//   out[c] = chain of fma(q[k], state[k][c]) from +0, k ascending
//   state: [dk, dv] row-major, updated ; out: [dv] ; written: [dv], w, unless null
void kda_step(float* state, const KdaInputs& in, std::size_t dk, std::size_t dv, float* out,
              float* written = nullptr);

// What kda_step does to the state, from the w it has written: bit for bit the same state.
//   state: [dk, dv], updated ; k, decay: [dk] ; w: [dv]
void kda_write(float* state, const float* k, const float* decay, const float* w, std::size_t dk,
               std::size_t dv);

}  // namespace daybreak::kernels
