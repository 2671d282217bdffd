// SPDX-License-Identifier: Apache-2.0
#pragma once

// Weights of some rows as f32, two rows side by side, for gemm_avx512_inl.h. Include it inside a
// target region for avx512f, bw, dq, vl.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gemm_avx2_inl.h"
#include "kernels/load8_avx2_inl.h"

namespace daybreak::kernels {
namespace {

inline constexpr std::size_t kPairs = kGemmRows / 2;

// Some rows of one chunk as f32, two by two: eight columns of the first, then of the second. Zeros
// up to a multiple of 8 columns, and for rows that are not there.
struct DecodedPairs {
  alignas(64) float values[kPairs][2 * kDotChunk];
  alignas(64) float scales[kPairs][kDotChunk / kMxGroup][16];  // kMxfp4 only
};

inline __m512 join(__m256 first, __m256 second) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(first), second, 1);
}
inline __m512 twice(__m256 x) { return _mm512_broadcast_f32x8(x); }

// Sixteen codes, eight of each row.
inline __m512 decode_e2m1_pair(const std::byte* first, const std::byte* second) {
  const __m512 values = _mm512_setr_ps(0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f, -0.0f, -0.5f,
                                       -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f);
  const __m512i shifts =
      _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::memcpy(&a, first, sizeof a);
  std::memcpy(&b, second, sizeof b);
  const __m512i codes = _mm512_mask_set1_epi32(_mm512_set1_epi32(a), 0xff00, b);
  // The permutation looks at the low four bits of each dword only.
  return _mm512_permutexvar_ps(_mm512_srlv_epi32(codes, shifts), values);
}

template <WeightFormat kFormat>
inline __m512 load_pair(const std::byte* first, const std::byte* second, std::size_t k) {
  if constexpr (kFormat == WeightFormat::kBf16) {
    const __m256i halves = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first + 2 * k))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(second + 2 * k)), 1);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  } else {
    return join(load8<kFormat>(first, k), load8<kFormat>(second, k));
  }
}

// Decodes columns [begin, end) of the two rows, of which the second may be the first again.
template <WeightFormat kFormat>
inline void decode_pair(const MatrixView& w, std::size_t first, std::size_t second,
                        std::size_t begin, std::size_t end, float* out) {
  const std::size_t row_bytes = bytes_per_row(kFormat, w.cols);
  const std::byte* const a = w.data + first * row_bytes;
  const std::byte* const b = w.data + second * row_bytes;
  std::size_t k = begin;
  for (; k + 8 <= end; k += 8, out += 16) {
    if constexpr (kFormat == WeightFormat::kMxfp4) {
      _mm512_store_ps(out, decode_e2m1_pair(a + k / 2, b + k / 2));
    } else {
      _mm512_store_ps(out, load_pair<kFormat>(a, b, k));
    }
  }
  if (k < end) {
    _mm512_store_ps(out, _mm512_setzero_ps());
    decode_row_scalar(w, first, k, end, out);
    decode_row_scalar(w, second, k, end, out + 8);
  }
}

template <WeightFormat kFormat>
inline void decode_pairs(const MatrixView& w, std::size_t row, std::size_t rows, std::size_t begin,
                         std::size_t end, DecodedPairs& out) {
  for (std::size_t p = 0; p < kPairs; ++p) {
    // Rows that are not there are the last one again; their sums are not stored.
    const std::size_t first = row + std::min(2 * p, rows - 1);
    const std::size_t second = row + std::min(2 * p + 1, rows - 1);
    decode_pair<kFormat>(w, first, second, begin, end, out.values[p]);
    if constexpr (kFormat == WeightFormat::kMxfp4) {
      const std::uint8_t* const a = w.scales + (first * w.cols + begin) / kMxGroup;
      const std::uint8_t* const b = w.scales + (second * w.cols + begin) / kMxGroup;
      for (std::size_t g = 0; g < (end - begin) / kMxGroup; ++g) {
        _mm512_store_ps(out.scales[p][g],
                        join(_mm256_set1_ps(e8m0_to_f32(a[g])), _mm256_set1_ps(e8m0_to_f32(b[g]))));
      }
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
