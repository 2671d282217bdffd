// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tables for AVX2 and wider share: every kernel in eight lanes. Include it inside a target
// region for avx2, fma, f16c or more.

#include <immintrin.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string_view>

#include "kernels/gemm_avx2_inl.h"
#include "kernels/gemv_avx2_inl.h"
#include "kernels/gemv_mxfp4_avx2_inl.h"
#include "kernels/lanes_avx2.h"
#include "kernels/table_inl.h"

namespace daybreak::kernels {
namespace {

float dot_avx2(const float* a, const float* b, std::size_t n) {
  float total = 0.0f;
  for (std::size_t begin = 0; begin < n; begin += kDotChunk) {
    const std::size_t end = std::min(n, begin + kDotChunk);
    __m256 sum = _mm256_setzero_ps();
    std::size_t k = begin;
    for (; k + 8 <= end; k += 8) {
      sum = _mm256_fmadd_ps(_mm256_loadu_ps(a + k), _mm256_loadu_ps(b + k), sum);
    }
    if (k < end) {
      const __m256i mask = Avx2Lane::first(end - k);
      sum = _mm256_fmadd_ps(_mm256_maskload_ps(a + k, mask), _mm256_maskload_ps(b + k, mask), sum);
    }
    total += reduce1(sum);
  }
  return total;
}

template <WeightFormat kFormat>
void matmul_format(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                   std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
  if (tokens == 1) {
    if constexpr (kFormat == WeightFormat::kMxfp4) {
      gemv_mxfp4(w, row_begin, row_end, x, y);
    } else {
      gemv<kFormat>(w, row_begin, row_end, x, y);
    }
  } else {
    gemm<kFormat>(w, row_begin, row_end, x, x_stride, tokens, y, y_stride);
  }
}

void matmul_avx2(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                 std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
  assert(row_begin <= row_end && row_end <= w.rows);
  assert(w.format != WeightFormat::kMxfp4 || w.cols % kMxGroup == 0);
  switch (w.format) {
    case WeightFormat::kF32:
      return matmul_format<WeightFormat::kF32>(w, row_begin, row_end, x, x_stride, tokens, y,
                                               y_stride);
    case WeightFormat::kF16:
      return matmul_format<WeightFormat::kF16>(w, row_begin, row_end, x, x_stride, tokens, y,
                                               y_stride);
    case WeightFormat::kBf16:
      return matmul_format<WeightFormat::kBf16>(w, row_begin, row_end, x, x_stride, tokens, y,
                                                y_stride);
    case WeightFormat::kF8E4M3:
      return matmul_format<WeightFormat::kF8E4M3>(w, row_begin, row_end, x, x_stride, tokens, y,
                                                  y_stride);
    case WeightFormat::kMxfp4:
      return matmul_format<WeightFormat::kMxfp4>(w, row_begin, row_end, x, x_stride, tokens, y,
                                                 y_stride);
  }
}

void weighted_sum_rows_avx2(const float* p, std::size_t n, const float* rows, std::size_t stride,
                            float* acc, std::size_t width) {
  for (std::size_t c = 0; c < width; c += 8) {
    const std::size_t count = std::min<std::size_t>(8, width - c);
    Avx2Lane sum = load_count<Avx2Lane>(acc + c, count);
    for (std::size_t i = 0; i < n; ++i) {
      const Avx2Lane row = load_count<Avx2Lane>(rows + i * stride + c, count);
      sum = fma(Avx2Lane::set1(p[i]), row, sum);
    }
    store_count(sum, acc + c, count);
  }
}

// A tile of kHeads queries by four rows, over one chunk.
template <std::size_t kHeads>
inline void score_four_rows(const float* q, std::size_t q_stride, const MlaTileRows& rows,
                            std::size_t first_row, float* const* out) {
  const float* r[4];
  const std::size_t last = rows.valid - 1;
  for (std::size_t i = 0; i < 4; ++i) {
    r[i] = rows.rows + std::min(first_row + i, last) * rows.stride;
  }
  __m128 totals[kHeads];
  for (__m128& total : totals) {
    total = _mm_setzero_ps();
  }
  for (std::size_t begin = 0; begin < rows.width; begin += kDotChunk) {
    const std::size_t end = std::min(rows.width, begin + kDotChunk);
    __m256 acc[kHeads][4] = {};
    for (std::size_t k = begin; k < end; k += 8) {
      const std::size_t count = std::min<std::size_t>(8, end - k);
      for (std::size_t h = 0; h < kHeads; ++h) {
        const __m256 qs = load_count<Avx2Lane>(q + h * q_stride + k, count).v;
        for (std::size_t i = 0; i < 4; ++i) {
          acc[h][i] = _mm256_fmadd_ps(load_count<Avx2Lane>(r[i] + k, count).v, qs, acc[h][i]);
        }
      }
    }
    for (std::size_t h = 0; h < kHeads; ++h) {
      totals[h] = _mm_add_ps(totals[h], reduce4(acc[h][0], acc[h][1], acc[h][2], acc[h][3]));
    }
  }
  // The tile's buffer holds 64 scores, so the repeated last rows have room.
  for (std::size_t h = 0; h < kHeads; ++h) {
    _mm_storeu_ps(out[h] + first_row, totals[h]);
  }
}

struct Avx2Isa {
  using V = Avx2Lane;
  static constexpr std::string_view kName = "avx2";
  static constexpr auto dot = dot_avx2;
  static constexpr auto matmul = matmul_avx2;
  static constexpr auto dequantise_row = dequantise_row_scalar;
  static constexpr auto weighted_sum_rows = weighted_sum_rows_avx2;

  // out[h][i] = dot(q_h, row_i); may write up to the tile's 64th score.
  template <std::size_t kHeads>
  static void scores(const float* q, std::size_t q_stride, const MlaTileRows& rows,
                     float* const* out) {
    for (std::size_t i = 0; i < rows.valid; i += 4) {
      if constexpr (kHeads == 4) {
        // Two heads at a time: their eight sums and the four rows fit the registers.
        score_four_rows<2>(q, q_stride, rows, i, out);
        score_four_rows<2>(q + 2 * q_stride, q_stride, rows, i, out + 2);
      } else {
        score_four_rows<kHeads>(q, q_stride, rows, i, out);
      }
    }
  }
};

}  // namespace
}  // namespace daybreak::kernels
