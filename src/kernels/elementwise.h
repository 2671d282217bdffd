// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions applied to each element of an array: any split of [0, n) gives the same bits. Pure and
// thread-safe. Output may equal an input (in place); partial overlap is not allowed.

#include <cstddef>

#include "kernels/dispatch.h"

namespace daybreak::kernels {

// x[i] = f(x[i]), f as in elementary.h.
inline void exp_inplace(float* x, std::size_t n) { active().exp_inplace(x, n); }
inline void sigmoid_inplace(float* x, std::size_t n) { active().sigmoid_inplace(x, n); }
inline void tanh_inplace(float* x, std::size_t n) { active().tanh_inplace(x, n); }
inline void log_inplace(float* x, std::size_t n) { active().log_inplace(x, n); }
inline void softplus_inplace(float* x, std::size_t n) { active().softplus_inplace(x, n); }
inline void silu_inplace(float* x, std::size_t n) { active().silu_inplace(x, n); }

// y[i] += x[i]
inline void add_inplace(float* y, const float* x, std::size_t n) { active().add_inplace(y, x, n); }

// y[i] *= factor
inline void scale_inplace(float* y, float factor, std::size_t n) {
  active().scale_inplace(y, factor, n);
}

// y[i] = fma(factor, x[i], y[i]): how rule 7 adds one expert's contribution.
inline void scaled_add(float* y, float factor, const float* x, std::size_t n) {
  active().scaled_add(y, factor, x, n);
}

// y[i] *= sigmoid(gate[i])
inline void sigmoid_mul(float* y, const float* gate, std::size_t n) {
  active().sigmoid_mul(y, gate, n);
}

// out[i] = silu(gate[i]) * up[i]
inline void silu_mul(const float* gate, const float* up, float* out, std::size_t n) {
  active().silu_mul(gate, up, out, n);
}

// SiTU: out[i] = (beta * tanh(gate[i] / beta) * sigmoid(gate[i])) * (b2 * tanh(up[i] / b2)), where
// b2 = *linear_beta; a null linear_beta leaves `up` as it is. The sigmoid takes the uncapped gate.
// Source: spec/k3-model.md section 6.
inline void situ_mul(const float* gate, const float* up, float beta, const float* linear_beta,
                     float* out, std::size_t n) {
  active().situ_mul(gate, up, beta, linear_beta, out, n);
}

}  // namespace daybreak::kernels
