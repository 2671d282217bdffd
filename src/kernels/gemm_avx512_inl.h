// SPDX-License-Identifier: Apache-2.0
#pragma once

// The matrix product of gemm_avx2_inl.h with twice the width: two rows lie side by side in a
// register, each with the eight lanes of rule 1, so that every sum is the one of AVX2. Include it
// inside a target region for avx512f, bw, dq, vl.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>

#include "kernels/decoded_pairs_avx512_inl.h"
#include "kernels/gemm_avx2_inl.h"
#include "kernels/load8_avx2_inl.h"

namespace daybreak::kernels {
namespace {

// Adds the sums of up to eight rows, of one token, to y.
inline void store_pairs(const __m512 (&acc)[kPairs], std::size_t rows, float* y) {
  __m128 sums[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const __m512 a = acc[2 * i];
    const __m512 b = acc[2 * i + 1];
    sums[i] = reduce4(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1),
                      _mm512_castps512_ps256(b), _mm512_extractf32x8_ps(b, 1));
  }
  const __m256 all = _mm256_set_m128(sums[1], sums[0]);
  if (rows == kGemmRows) {
    return _mm256_storeu_ps(y, _mm256_add_ps(_mm256_loadu_ps(y), all));
  }
  const __m256i mask = Avx2Lane::first(rows);
  _mm256_maskstore_ps(y, mask, _mm256_add_ps(_mm256_maskload_ps(y, mask), all));
}

template <std::size_t kTokens>
inline void plain_pairs(const DecodedPairs& w, std::size_t rows, std::size_t n,
                        const TokenBlock& block) {
  __m512 acc[kTokens][kPairs] = {};
  const auto step = [&](std::size_t k, auto load_x) {
    __m512 ws[kPairs];
    for (std::size_t p = 0; p < kPairs; ++p) {
      ws[p] = _mm512_load_ps(w.values[p] + 2 * k);
    }
    for (std::size_t t = 0; t < kTokens; ++t) {
      const __m512 xs = twice(load_x(block.x + t * block.x_stride + k));
      for (std::size_t p = 0; p < kPairs; ++p) {
        acc[t][p] = _mm512_fmadd_ps(ws[p], xs, acc[t][p]);
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
  for (std::size_t t = 0; t < kTokens; ++t) {
    store_pairs(acc[t], rows, block.y + t * block.y_stride);
  }
}

template <std::size_t kTokens>
inline void mxfp4_pairs(const DecodedPairs& w, std::size_t rows, std::size_t n,
                        const TokenBlock& block) {
  __m512 acc[kTokens][kPairs] = {};
  for (std::size_t k = 0; k < n; k += kMxGroup) {
    __m512 s[kTokens][kPairs];
    for (std::size_t i = 0; i < kMxGroup; i += 8) {
      __m512 ws[kPairs];
      for (std::size_t p = 0; p < kPairs; ++p) {
        ws[p] = _mm512_load_ps(w.values[p] + 2 * (k + i));
      }
      for (std::size_t t = 0; t < kTokens; ++t) {
        const __m512 xs = twice(_mm256_loadu_ps(block.x + t * block.x_stride + k + i));
        for (std::size_t p = 0; p < kPairs; ++p) {
          s[t][p] = i == 0 ? _mm512_mul_ps(ws[p], xs) : _mm512_fmadd_ps(ws[p], xs, s[t][p]);
        }
      }
    }
    for (std::size_t p = 0; p < kPairs; ++p) {
      const __m512 scale = _mm512_load_ps(w.scales[p][k / kMxGroup]);
      for (std::size_t t = 0; t < kTokens; ++t) {
        acc[t][p] = _mm512_fmadd_ps(s[t][p], scale, acc[t][p]);
      }
    }
  }
  for (std::size_t t = 0; t < kTokens; ++t) {
    store_pairs(acc[t], rows, block.y + t * block.y_stride);
  }
}

// Tokens that share a pass over the decoded rows: as many as the registers hold, with a group sum
// beside each total for MXFP4.
template <WeightFormat kFormat>
inline constexpr std::size_t kTokensPerPass = kFormat == WeightFormat::kMxfp4 ? 3 : 5;

template <WeightFormat kFormat, std::size_t kTokens>
inline void pairs_with_tokens(const DecodedPairs& w, std::size_t rows, std::size_t n,
                              const TokenBlock& block) {
  if constexpr (kFormat == WeightFormat::kMxfp4) {
    mxfp4_pairs<kTokens>(w, rows, n, block);
  } else {
    plain_pairs<kTokens>(w, rows, n, block);
  }
}

// The last tokens, fewer than a pass.
template <WeightFormat kFormat, std::size_t kTokens = kTokensPerPass<kFormat> - 1>
inline void pairs_with_rest(const DecodedPairs& w, std::size_t rows, std::size_t n,
                            std::size_t tokens, const TokenBlock& block) {
  if (tokens == kTokens) {
    return pairs_with_tokens<kFormat, kTokens>(w, rows, n, block);
  }
  if constexpr (kTokens > 1) {
    pairs_with_rest<kFormat, kTokens - 1>(w, rows, n, tokens, block);
  }
}

template <WeightFormat kFormat>
void gemm_avx512(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                 std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
  constexpr std::size_t kPass = kTokensPerPass<kFormat>;
  for (std::size_t t = 0; t < tokens; ++t) {
    std::fill(y + t * y_stride + row_begin, y + t * y_stride + row_end, 0.0f);
  }
  DecodedPairs decoded;
  for (std::size_t begin = 0; begin < w.cols; begin += kDotChunk) {
    const std::size_t end = std::min(w.cols, begin + kDotChunk);
    for (std::size_t row = row_begin; row < row_end; row += kGemmRows) {
      const std::size_t rows = std::min(kGemmRows, row_end - row);
      decode_pairs<kFormat>(w, row, rows, begin, end, decoded);
      std::size_t t = 0;
      const auto block = [&] {
        return TokenBlock{x + t * x_stride + begin, x_stride, y + t * y_stride + row, y_stride};
      };
      for (; t + kPass <= tokens; t += kPass) {
        pairs_with_tokens<kFormat, kPass>(decoded, rows, end - begin, block());
      }
      if (t < tokens) {
        pairs_with_rest<kFormat>(decoded, rows, end - begin, tokens - t, block());
      }
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
