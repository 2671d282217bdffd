// SPDX-License-Identifier: Apache-2.0
#pragma once

// The defining forms of rules 1 and 2 (matmul.h), written to be read. The wide kernels are tested
// against them bit for bit and use them for inputs too rare to be worth a wide path.

#include <cstddef>

#include "kernels/weight_format.h"

namespace daybreak::kernels {

float dot_scalar(const float* a, const float* b, std::size_t n);

// The part of y[r] = dot(w[r], x) that comes from columns [begin, end), one chunk of at most 512;
// REQUIRES: begin % 512 == 0.
float chunk_dot_scalar(const MatrixView& w, std::size_t row, std::size_t begin, std::size_t end,
                       const float* x);

void matmul_scalar(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                   std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride);

void dequantise_row_scalar(const MatrixView& w, std::size_t row, float* out);

// Writes the elements [begin, end) of a row as f32; kMxfp4 without its scales.
//   REQUIRES: kMxfp4 => begin even.
void decode_row_scalar(const MatrixView& w, std::size_t row, std::size_t begin, std::size_t end,
                       float* out);

void weighted_sum_rows_scalar(const float* p, std::size_t n, const float* rows, std::size_t stride,
                              float* acc, std::size_t width);

}  // namespace daybreak::kernels
