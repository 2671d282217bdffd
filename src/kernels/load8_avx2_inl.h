// SPDX-License-Identifier: Apache-2.0
#pragma once

// Eight weights of a stored format as eight f32, the reductions of rule 1, and the decoding of a
// chunk into f32 for the kernels that use it for several tokens. Include it inside a target region
// for avx2, fma, f16c.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/matmul.h"
#include "kernels/matmul_scalar.h"
#include "kernels/weight_format.h"

namespace daybreak::kernels {
namespace {

// Returns elements k .. k + 7 of the row at `row`. REQUIRES: they exist; not for kMxfp4.
template <WeightFormat kFormat>
inline __m256 load8(const std::byte* row, std::size_t k) {
  if constexpr (kFormat == WeightFormat::kF32) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(row) + k);
  } else if constexpr (kFormat == WeightFormat::kF16) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 2 * k)));
  } else if constexpr (kFormat == WeightFormat::kBf16) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 2 * k));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
  } else {
    static_assert(kFormat == WeightFormat::kF8E4M3);
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + k));
    return _mm256_i32gather_ps(kF8E4M3.data(), _mm256_cvtepu8_epi32(bytes), 4);
  }
}

// Returns [sum of a's lanes, of b's, of c's, of d's] by the tree of rule 1.
inline __m128 reduce4(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256 ab = _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20),   // l0..l3 of a | of b
                                  _mm256_permute2f128_ps(a, b, 0x31));  // l4..l7
  const __m256 cd =
      _mm256_add_ps(_mm256_permute2f128_ps(c, d, 0x20), _mm256_permute2f128_ps(c, d, 0x31));
  const __m256 low = _mm256_castpd_ps(
      _mm256_unpacklo_pd(_mm256_castps_pd(ab), _mm256_castps_pd(cd)));  // a 04 15, c | b, d
  const __m256 high = _mm256_castpd_ps(
      _mm256_unpackhi_pd(_mm256_castps_pd(ab), _mm256_castps_pd(cd)));  // a 26 37, c | b, d
  const __m256 sums = _mm256_add_ps(low, high);
  const __m256 total = _mm256_hadd_ps(sums, sums);  // a c a c | b d b d
  return _mm_unpacklo_ps(_mm256_castps256_ps128(total), _mm256_extractf128_ps(total, 1));
}

inline float reduce1(__m256 a) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

// E2M1 in bf16: its low and high bytes by code.
inline __m256i e2m1_low_bytes() {
  return _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0, -128, -64, 0, 64, -128, -64, 0, 0, -128, -64, 0, 64, -128, -64));
}
inline __m256i e2m1_high_bytes() {
  return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0x3f, 0x3f, 0x3f, 0x40, 0x40, 0x40, 0x40,
                                                   -128, -65, -65, -65, -64, -64, -64, -64));
}

// Writes the 32 unscaled values of one MXFP4 group in order.
inline void decode_group(const std::byte* codes, float* out) {
  const __m128i nibble = _mm_set1_epi8(0xf);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  const __m128i even = _mm_and_si128(bytes, nibble);
  const __m128i odd = _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble);
  const __m128i ordered[2] = {_mm_unpacklo_epi8(even, odd), _mm_unpackhi_epi8(even, odd)};
  for (std::size_t i = 0; i < 2; ++i) {
    const __m128i low = _mm_shuffle_epi8(_mm256_castsi256_si128(e2m1_low_bytes()), ordered[i]);
    const __m128i high = _mm_shuffle_epi8(_mm256_castsi256_si128(e2m1_high_bytes()), ordered[i]);
    const __m128i words[2] = {_mm_unpacklo_epi8(low, high), _mm_unpackhi_epi8(low, high)};
    for (std::size_t j = 0; j < 2; ++j) {
      const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(words[j]), 16);
      _mm256_store_ps(out + 16 * i + 8 * j, _mm256_castsi256_ps(bits));
    }
  }
}

// Writes columns [begin, end) of a row as f32 and zeros up to the next multiple of 8; kMxfp4
// without its scales.  out: 32-byte aligned.
template <WeightFormat kFormat>
inline void decode_chunk(const MatrixView& w, std::size_t row, std::size_t begin, std::size_t end,
                         float* out) {
  const std::byte* const data = w.data + row * bytes_per_row(kFormat, w.cols);
  if constexpr (kFormat == WeightFormat::kMxfp4) {
    for (std::size_t k = begin; k < end; k += kMxGroup) {
      decode_group(data + k / 2, out + (k - begin));
    }
  } else {
    std::size_t k = begin;
    for (; k + 8 <= end; k += 8) {
      _mm256_store_ps(out + (k - begin), load8<kFormat>(data, k));
    }
    if (k < end) {
      _mm256_store_ps(out + (k - begin), _mm256_setzero_ps());
      decode_row_scalar(w, row, k, end, out + (k - begin));
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
