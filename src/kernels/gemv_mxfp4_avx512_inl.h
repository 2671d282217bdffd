// SPDX-License-Identifier: Apache-2.0
#pragma once

// MXFP4 matrix times one vector, sixteen rows at a time, one row per lane: a 16-entry permutation
// decodes sixteen codes at once, x is broadcast from memory by the multiply-add itself, and the
// eight lanes of rule 1 are eight registers, so their tree needs no shuffles. Include it inside a
// target region for avx512f, bw, dq, vl.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gemv_mxfp4_avx2_inl.h"

namespace daybreak::kernels {
namespace {

inline constexpr std::size_t kWideRows = 16;

struct Mxfp4WideRows {
  const std::byte* codes[kWideRows];
  const std::uint8_t* scales[kWideRows];
  std::size_t block_bytes;  // from these rows to the next sixteen
};

// Rows from `row` on; beyond `row_end` the last one again, whose sum is then not stored.
inline Mxfp4WideRows sixteen_rows(const MatrixView& w, std::size_t row, std::size_t row_end) {
  Mxfp4WideRows rows;
  rows.block_bytes = kWideRows * (w.cols / 2);
  for (std::size_t i = 0; i < kWideRows; ++i) {
    const std::size_t r = std::min(row + i, row_end - 1);
    rows.codes[i] = w.data + r * (w.cols / 2);
    rows.scales[i] = w.scales + r * (w.cols / kMxGroup);
  }
  return rows;
}

// out[g] = the scale byte of group `group` + g for each row: a 16 x 16 transposition, as four
// rounds of a perfect shuffle.
inline void transpose_scales(const Mxfp4WideRows& rows, std::size_t group, std::size_t groups,
                             __m128i (&out)[16]) {
  __m128i other[16];
  for (std::size_t i = 0; i < 16; ++i) {
    if (groups == 16) {
      out[i] = load16(rows.scales[i] + group);
    } else {
      std::uint8_t bytes[16] = {};
      std::memcpy(bytes, rows.scales[i] + group, groups);
      out[i] = load16(bytes);
    }
  }
  for (std::size_t round = 0; round < 4; round += 2) {
    for (std::size_t i = 0; i < 8; ++i) {
      other[2 * i] = _mm_unpacklo_epi8(out[i], out[i + 8]);
      other[2 * i + 1] = _mm_unpackhi_epi8(out[i], out[i + 8]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      out[2 * i] = _mm_unpacklo_epi8(other[i], other[i + 8]);
      out[2 * i + 1] = _mm_unpackhi_epi8(other[i], other[i + 8]);
    }
  }
}

// 2^(e - 127) per lane, by the two exceptions of e8m0_to_f32.
inline __m512 wide_scale(__m128i bytes) {
  const __m512i e = _mm512_cvtepu8_epi32(bytes);
  __m512i bits = _mm512_slli_epi32(e, 23);
  const __mmask16 smallest = _mm512_testn_epi32_mask(e, e);
  const __mmask16 nan = _mm512_cmpeq_epi32_mask(e, _mm512_set1_epi32(255));
  bits = _mm512_mask_mov_epi32(bits, smallest, _mm512_set1_epi32(0x0040'0000));
  bits = _mm512_mask_mov_epi32(bits, nan, _mm512_set1_epi32(0x7fc0'0000));
  return _mm512_castsi512_ps(bits);
}

// steps[i] holds, per row, the dword of codes of k = 8i .. 8i + 7 of the group at `byte`.
inline void load_group(const Mxfp4WideRows& rows, std::size_t byte, __m512i (&steps)[4]) {
  __m512i z[4];
  for (std::size_t j = 0; j < 4; ++j) {
    z[j] = _mm512_castsi128_si512(load16(rows.codes[j] + byte));
    z[j] = _mm512_inserti32x4(z[j], load16(rows.codes[j + 4] + byte), 1);
    z[j] = _mm512_inserti32x4(z[j], load16(rows.codes[j + 8] + byte), 2);
    z[j] = _mm512_inserti32x4(z[j], load16(rows.codes[j + 12] + byte), 3);
  }
  const __m512i a = _mm512_unpacklo_epi32(z[0], z[1]);
  const __m512i b = _mm512_unpackhi_epi32(z[0], z[1]);
  const __m512i c = _mm512_unpacklo_epi32(z[2], z[3]);
  const __m512i d = _mm512_unpackhi_epi32(z[2], z[3]);
  steps[0] = _mm512_unpacklo_epi64(a, c);
  steps[1] = _mm512_unpackhi_epi64(a, c);
  steps[2] = _mm512_unpacklo_epi64(b, d);
  steps[3] = _mm512_unpackhi_epi64(b, d);
}

// The permutation looks at the low four bits of each dword only, so no mask is needed.
template <unsigned kNibble>
inline __m512 decode(__m512i table, __m512i codes) {
  return _mm512_castsi512_ps(
      _mm512_permutexvar_epi32(_mm512_srli_epi32(codes, 4 * kNibble), table));
}

// acc = fma(the four-step chain of lane kLane, scale, acc). See run_chains' note on the first
// product.
template <unsigned kLane>
inline void wide_lane(__m512i table, const __m512i (&steps)[4], const float* x, __m512 scale,
                      __m512& acc) {
  __m512 s = _mm512_mul_ps(decode<kLane>(table, steps[0]), _mm512_set1_ps(x[kLane]));
  s = _mm512_fmadd_ps(decode<kLane>(table, steps[1]), _mm512_set1_ps(x[8 + kLane]), s);
  s = _mm512_fmadd_ps(decode<kLane>(table, steps[2]), _mm512_set1_ps(x[16 + kLane]), s);
  s = _mm512_fmadd_ps(decode<kLane>(table, steps[3]), _mm512_set1_ps(x[24 + kLane]), s);
  acc = _mm512_fmadd_ps(s, scale, acc);
}

// Returns the chunk sums of sixteen rows; x is the chunk's.
inline __m512 chunk_16_rows(__m512i table, const Mxfp4WideRows& rows, std::size_t begin,
                            std::size_t groups, const float* x) {
  __m128i scales[16];
  transpose_scales(rows, begin / kMxGroup, groups, scales);
  const __m512 zero = _mm512_setzero_ps();
  __m512 l[8] = {zero, zero, zero, zero, zero, zero, zero, zero};
  for (std::size_t g = 0; g < groups; ++g, x += kMxGroup) {
    const std::size_t byte = (begin + g * kMxGroup) / 2;
    if (byte % 64 == 0) {
      // The same place of the next sixteen rows: these short streams are too many for the hardware
      // to follow, and further on in this row is soon past its end.
      for (const std::byte* codes : rows.codes) {
        _mm_prefetch(reinterpret_cast<const char*>(codes + byte + rows.block_bytes), _MM_HINT_T1);
      }
    }
    __m512i steps[4];
    load_group(rows, byte, steps);
    const __m512 scale = wide_scale(scales[g]);
    wide_lane<0>(table, steps, x, scale, l[0]);
    wide_lane<1>(table, steps, x, scale, l[1]);
    wide_lane<2>(table, steps, x, scale, l[2]);
    wide_lane<3>(table, steps, x, scale, l[3]);
    wide_lane<4>(table, steps, x, scale, l[4]);
    wide_lane<5>(table, steps, x, scale, l[5]);
    wide_lane<6>(table, steps, x, scale, l[6]);
    wide_lane<7>(table, steps, x, scale, l[7]);
  }
  const __m512 even = _mm512_add_ps(_mm512_add_ps(l[0], l[4]), _mm512_add_ps(l[2], l[6]));
  const __m512 odd = _mm512_add_ps(_mm512_add_ps(l[1], l[5]), _mm512_add_ps(l[3], l[7]));
  return _mm512_add_ps(even, odd);
}

// y[r] for r in [row_begin, row_end).
void gemv_mxfp4_avx512(const MatrixView& w, std::size_t row_begin, std::size_t row_end,
                       const float* x, float* y) {
  const __m512i table = _mm512_loadu_si512(kE2M1.data());
  std::size_t row = row_begin;
  // Half a block or less is cheaper four rows at a time.
  for (; row + kWideRows / 2 < row_end; row += kWideRows) {
    const Mxfp4WideRows rows = sixteen_rows(w, row, row_end);
    __m512 total = _mm512_setzero_ps();
    for (std::size_t begin = 0; begin < w.cols; begin += kDotChunk) {
      const std::size_t groups = std::min(w.cols - begin, kDotChunk) / kMxGroup;
      total = _mm512_add_ps(total, chunk_16_rows(table, rows, begin, groups, x + begin));
    }
    const std::size_t count = std::min(kWideRows, row_end - row);
    _mm512_mask_storeu_ps(y + row, static_cast<__mmask16>((1u << count) - 1), total);
  }
  if (row < row_end) {
    gemv_mxfp4(w, row, row_end, x, y);
  }
}

}  // namespace
}  // namespace daybreak::kernels
