// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one dot product of the program and the matrix products made of it.
//
// Rule 1: K is cut into chunks of 512. Inside a chunk, lane j is one chain of fused multiply-adds
// over k = j, j + 8, j + 16, ... ascending, from +0; an index past the end adds nothing. The lanes
// reduce as ((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7)); chunks are added ascending to +0. Starting from
// +0 makes padding with zeros give the same bits.
//
// Rule 2, MXFP4: in a chunk, each group of 32 weights first gives per lane the 4-step chain s_j of
// unscaled E2M1 values times x, from +0; then l_j = fma(s_j, 2^(e-127), l_j), groups ascending;
// then as rule 1.
//
// All functions are pure and thread-safe. Buffers must not overlap unless said.

#include <cstddef>

#include "kernels/dispatch.h"
#include "kernels/weight_format.h"

namespace daybreak::kernels {

// The chunk of rules 1 and 2.
inline constexpr std::size_t kDotChunk = 512;
// The lanes of rule 1.
inline constexpr std::size_t kDotLanes = 8;
// Row ranges that start at a multiple of this run fastest; any split gives the same bits.
inline constexpr std::size_t kMatmulRowGrain = 8;

// y[t * y_stride + r] = dot(w[r], x + t * x_stride) for r in [row_begin, row_end), t in [0,
// tokens). `r` is absolute: a caller that splits rows over threads passes the same y to all.
//   REQUIRES: row_begin <= row_end <= w.rows; x_stride >= w.cols when tokens > 1;
//             y_stride >= row_end when tokens > 1; kMxfp4 => cols % 32 == 0 and scales set.
inline void matmul(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                   std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
  active().matmul(w, row_begin, row_end, x, x_stride, tokens, y, y_stride);
}

// out[c] = w[row][c], exact (kMxfp4: the element times its scale, exact unless it underflows).
//   out: [w.cols].  REQUIRES: row < w.rows.
inline void dequantise_row(const MatrixView& w, std::size_t row, float* out) {
  active().dequantise_row(w, row, out);
}

// Returns sum_i a[i] * b[i] by rule 1; n == 0 gives +0. a and b may be the same.
inline float dot(const float* a, const float* b, std::size_t n) { return active().dot(a, b, n); }

// acc[c] = fma(p[i], rows[i * stride + c], acc[c]) for i = 0, 1, ... n-1 in this order.
//   p: [n] ; rows: [n, stride], stride >= width ; acc: [width]
inline void weighted_sum_rows(const float* p, std::size_t n, const float* rows, std::size_t stride,
                              float* acc, std::size_t width) {
  active().weighted_sum_rows(p, n, rows, stride, acc, width);
}

}  // namespace daybreak::kernels
