// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix times several vectors. A block of rows is decoded to f32 once per chunk, then met by all
// tokens in register tiles. Chunks are the outer loop, so that one chunk of all tokens stays in the
// level-2 cache while the weights stream past; y holds the running total of the chunks.
// Include it inside a target region for avx2, fma, f16c.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>

#include "kernels/lanes_avx2.h"
#include "kernels/load8_avx2_inl.h"

namespace daybreak::kernels {
namespace {

inline constexpr std::size_t kGemmRows = 8;

// Some rows of one chunk as f32, padded with zeros to a multiple of 8 columns.
struct DecodedRows {
  alignas(64) float values[kGemmRows][kDotChunk];
  float scales[kGemmRows][kDotChunk / kMxGroup];  // kMxfp4 only
};

// Where the tokens' inputs of one chunk and their outputs for one row are.
struct TokenBlock {
  const float* x;
  std::size_t x_stride;
  float* y;
  std::size_t y_stride;
};

// Adds the chunk sums of kRows rows and kTokens tokens to y. `n` columns; x is not read past n.
template <std::size_t kRows, std::size_t kTokens>
inline void store_sums(__m256 (&acc)[kTokens][kRows], const TokenBlock& block) {
  for (std::size_t t = 0; t < kTokens; ++t) {
    float* const y = block.y + t * block.y_stride;
    if constexpr (kRows == 4) {
      const __m128 sums = reduce4(acc[t][0], acc[t][1], acc[t][2], acc[t][3]);
      _mm_storeu_ps(y, _mm_add_ps(_mm_loadu_ps(y), sums));
    } else {
      for (std::size_t r = 0; r < kRows; ++r) {
        y[r] += reduce1(acc[t][r]);
      }
    }
  }
}

template <std::size_t kRows, std::size_t kTokens>
inline void plain_tile(const float* w, std::size_t n, const TokenBlock& block) {
  __m256 acc[kTokens][kRows] = {};
  const auto step = [&](std::size_t k, auto load_x) {
    __m256 xs[kTokens];
    for (std::size_t t = 0; t < kTokens; ++t) {
      xs[t] = load_x(block.x + t * block.x_stride + k);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const __m256 ws = _mm256_load_ps(w + r * kDotChunk + k);
      for (std::size_t t = 0; t < kTokens; ++t) {
        acc[t][r] = _mm256_fmadd_ps(ws, xs[t], acc[t][r]);
      }
    }
  };
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    step(k, [](const float* p) { return _mm256_loadu_ps(p); });
  }
  if (k < n) {
    const __m256i mask = Avx2Lane::first(n - k);
    step(k, [mask](const float* p) { return _mm256_maskload_ps(p, mask); });
  }
  store_sums(acc, block);
}

template <std::size_t kRows, std::size_t kTokens>
inline void mxfp4_tile(const float* w, const float* scales, std::size_t n,
                       const TokenBlock& block) {
  __m256 acc[kTokens][kRows] = {};
  for (std::size_t k = 0; k < n; k += kMxGroup) {
    __m256 s[kTokens][kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t t = 0; t < kTokens; ++t) {
        s[t][r] = _mm256_mul_ps(_mm256_load_ps(w + r * kDotChunk + k),
                                _mm256_loadu_ps(block.x + t * block.x_stride + k));
      }
    }
    for (std::size_t i = 8; i < kMxGroup; i += 8) {
      for (std::size_t r = 0; r < kRows; ++r) {
        const __m256 ws = _mm256_load_ps(w + r * kDotChunk + k + i);
        for (std::size_t t = 0; t < kTokens; ++t) {
          const __m256 xs = _mm256_loadu_ps(block.x + t * block.x_stride + k + i);
          s[t][r] = _mm256_fmadd_ps(ws, xs, s[t][r]);
        }
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const __m256 scale = _mm256_broadcast_ss(scales + r * (kDotChunk / kMxGroup) + k / kMxGroup);
      for (std::size_t t = 0; t < kTokens; ++t) {
        acc[t][r] = _mm256_fmadd_ps(s[t][r], scale, acc[t][r]);
      }
    }
  }
  store_sums(acc, block);
}

// One tile of the format's natural height: 4 plain rows or 2 of MXFP4, which needs twice the
// registers for its group sums.
template <WeightFormat kFormat>
inline constexpr std::size_t kTileRows = kFormat == WeightFormat::kMxfp4 ? 2 : 4;

template <WeightFormat kFormat, std::size_t kRows, std::size_t kTokens>
inline void tile(const DecodedRows& w, std::size_t row, std::size_t n, const TokenBlock& block) {
  if constexpr (kFormat == WeightFormat::kMxfp4) {
    mxfp4_tile<kRows, kTokens>(w.values[row], w.scales[row], n, block);
  } else {
    plain_tile<kRows, kTokens>(w.values[row], n, block);
  }
}

template <WeightFormat kFormat, std::size_t kTokens>
inline void rows_with_tokens(const DecodedRows& w, std::size_t rows, std::size_t n,
                             TokenBlock block) {
  std::size_t row = 0;
  float* const y = block.y;
  for (; row + kTileRows<kFormat> <= rows; row += kTileRows<kFormat>) {
    block.y = y + row;
    tile<kFormat, kTileRows<kFormat>, kTokens>(w, row, n, block);
  }
  for (; row < rows; ++row) {
    block.y = y + row;
    tile<kFormat, 1, kTokens>(w, row, n, block);
  }
}

template <WeightFormat kFormat>
inline void decode_rows(const MatrixView& w, std::size_t row, std::size_t rows, std::size_t begin,
                        std::size_t end, DecodedRows& out) {
  for (std::size_t i = 0; i < rows; ++i) {
    decode_chunk<kFormat>(w, row + i, begin, end, out.values[i]);
    if constexpr (kFormat == WeightFormat::kMxfp4) {
      const std::uint8_t* const scales = w.scales + ((row + i) * w.cols + begin) / kMxGroup;
      for (std::size_t g = 0; g < (end - begin) / kMxGroup; ++g) {
        out.scales[i][g] = e8m0_to_f32(scales[g]);
      }
    }
  }
}

template <WeightFormat kFormat>
void gemm(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
          std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
  for (std::size_t t = 0; t < tokens; ++t) {
    std::fill(y + t * y_stride + row_begin, y + t * y_stride + row_end, 0.0f);
  }
  DecodedRows decoded;
  for (std::size_t begin = 0; begin < w.cols; begin += kDotChunk) {
    const std::size_t end = std::min(w.cols, begin + kDotChunk);
    for (std::size_t row = row_begin; row < row_end; row += kGemmRows) {
      const std::size_t rows = std::min(kGemmRows, row_end - row);
      decode_rows<kFormat>(w, row, rows, begin, end, decoded);
      std::size_t t = 0;
      const auto block = [&] {
        return TokenBlock{x + t * x_stride + begin, x_stride, y + t * y_stride + row, y_stride};
      };
      for (; t + 3 <= tokens; t += 3) {
        rows_with_tokens<kFormat, 3>(decoded, rows, end - begin, block());
      }
      if (tokens - t == 2) {
        rows_with_tokens<kFormat, 2>(decoded, rows, end - begin, block());
      } else if (tokens - t == 1) {
        rows_with_tokens<kFormat, 1>(decoded, rows, end - begin, block());
      }
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
