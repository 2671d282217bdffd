// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix times one vector for the formats whose elements stand alone. A decode step is bound by
// reading the weights once, so several rows run together: their chains hide the FMA latency and x
// is loaded once for all of them. Include it inside a target region for avx2, fma, f16c.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>

#include "kernels/lanes_avx2.h"
#include "kernels/load8_avx2_inl.h"

namespace daybreak::kernels {
namespace {

// sums[i] += row i's chunk [begin, end).
template <WeightFormat kFormat, std::size_t kRows>
inline void gemv_chunk(const MatrixView& w, std::size_t row, std::size_t begin, std::size_t end,
                       const float* x, __m256* sums) {
  const std::size_t row_bytes = bytes_per_row(kFormat, w.cols);
  const std::byte* const data = w.data + row * row_bytes;
  std::size_t k = begin;
  for (; k + 8 <= end; k += 8) {
    const __m256 xs = _mm256_loadu_ps(x + k);
    for (std::size_t i = 0; i < kRows; ++i) {
      sums[i] = _mm256_fmadd_ps(load8<kFormat>(data + i * row_bytes, k), xs, sums[i]);
    }
  }
  if (k < end) {
    const __m256 xs = _mm256_maskload_ps(x + k, Avx2Lane::first(end - k));
    for (std::size_t i = 0; i < kRows; ++i) {
      alignas(32) float tail[8] = {};
      decode_row_scalar(w, row + i, k, end, tail);
      sums[i] = _mm256_fmadd_ps(_mm256_load_ps(tail), xs, sums[i]);
    }
  }
}

template <WeightFormat kFormat>
inline void gemv_8_rows(const MatrixView& w, std::size_t row, const float* x, float* y) {
  __m128 low = _mm_setzero_ps();
  __m128 high = _mm_setzero_ps();
  for (std::size_t begin = 0; begin < w.cols; begin += kDotChunk) {
    __m256 s[8] = {};
    gemv_chunk<kFormat, 8>(w, row, begin, std::min(w.cols, begin + kDotChunk), x, s);
    low = _mm_add_ps(low, reduce4(s[0], s[1], s[2], s[3]));
    high = _mm_add_ps(high, reduce4(s[4], s[5], s[6], s[7]));
  }
  _mm_storeu_ps(y, low);
  _mm_storeu_ps(y + 4, high);
}

// y[r] for r in [row_begin, row_end).
template <WeightFormat kFormat>
void gemv(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
          float* y) {
  std::size_t row = row_begin;
  for (; row + 8 <= row_end; row += 8) {
    gemv_8_rows<kFormat>(w, row, x, y + row);
  }
  for (; row < row_end; ++row) {
    float total = 0.0f;
    for (std::size_t begin = 0; begin < w.cols; begin += kDotChunk) {
      __m256 sum = _mm256_setzero_ps();
      gemv_chunk<kFormat, 1>(w, row, begin, std::min(w.cols, begin + kDotChunk), x, &sum);
      total += reduce1(sum);
    }
    y[row] = total;
  }
}

}  // namespace
}  // namespace daybreak::kernels
