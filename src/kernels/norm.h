// SPDX-License-Identifier: Apache-2.0
#pragma once

// Norms and the softmax family (rules 4 and 8). Every sum follows rule 1 (matmul.h); the maximum is
// free of order. Pure and thread-safe; y may equal x.

#include <cstddef>

#include "kernels/dispatch.h"

namespace daybreak::kernels {

// y[i] = (x[i] * f) * weight[i], f = 1 / sqrt(dot(x, x) / n + eps) formed in double and rounded
// once: its error is common to the whole vector, so nothing later averages it out. A null weight
// leaves the last factor out.  REQUIRES: n >= 1.
inline void rms_norm(const float* x, const float* weight, float eps, std::size_t n, float* y) {
  active().rms_norm(x, weight, eps, n, y);
}

// y[i] = x[i] * f, f = scale / sqrt(dot(x, x) + eps) as in rms_norm: eps is added to the sum, as in
// the released code.
inline void l2_normalize(const float* x, std::size_t n, float eps, float scale, float* y) {
  active().l2_normalize(x, n, eps, scale, y);
}

// Returns the largest element, NaN ones ignored; n == 0 or only NaN gives -inf.
inline float max_of(const float* x, std::size_t n) { return active().max_of(x, n); }

// Returns sum_i exp(x[i] - max) by rule 1, so blocks of 512 may be summed apart and added
// ascending.
inline float sum_exp(const float* x, std::size_t n, float max) {
  return active().sum_exp(x, n, max);
}

// Returns log(sum_i exp(x[i])) = max + log(sum_exp); n == 0 or all -inf gives -inf; a NaN or two
// infinities of opposite sign follow IEEE (NaN).
float log_sum_exp(const float* x, std::size_t n);

// x[i] = exp(x[i] - max) / sum. -inf elements become exactly 0.  REQUIRES: some element > -inf.
inline void softmax_inplace(float* x, std::size_t n) { active().softmax_inplace(x, n); }

}  // namespace daybreak::kernels
