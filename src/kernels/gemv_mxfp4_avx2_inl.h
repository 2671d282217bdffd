// SPDX-License-Identifier: Apache-2.0
#pragma once

// MXFP4 matrix times one vector, four rows at a time: scales, chunks, panels and rows around the
// group of mxfp4_group_avx2_inl.h. Include it inside a target region for avx2, fma, f16c.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/mxfp4_group_avx2_inl.h"

namespace daybreak::kernels {
namespace {

// Columns whose permuted x fits the level-1 cache beside the weights; a multiple of the chunk.
inline constexpr std::size_t kMxPanel = 4096;

// The scale bytes of one chunk of four rows: per group, A B in the low half and C D in the high
// one.
struct Mxfp4Scales {
  __m256i first;   // groups 0..7
  __m256i second;  // groups 8..15
  bool ordinary;   // no byte is 0 or 255, so each is the exponent field of its f32
};

inline Mxfp4Scales load_scales(const Mxfp4Rows& rows, std::size_t group, std::size_t groups) {
  __m128i s[4];
  for (std::size_t i = 0; i < 4; ++i) {
    if (groups == 16) {
      s[i] = load16(rows.scales[i] + group);
    } else {
      std::uint8_t bytes[16];
      std::memset(bytes, 127, sizeof bytes);
      std::memcpy(bytes, rows.scales[i] + group, groups);
      s[i] = load16(bytes);
    }
  }
  const __m128i low = _mm_min_epu8(_mm_min_epu8(s[0], s[1]), _mm_min_epu8(s[2], s[3]));
  const __m128i high = _mm_max_epu8(_mm_max_epu8(s[0], s[1]), _mm_max_epu8(s[2], s[3]));
  const __m128i odd_one = _mm_or_si128(_mm_cmpeq_epi8(low, _mm_setzero_si128()),
                                       _mm_cmpeq_epi8(high, _mm_set1_epi8(-1)));
  return {join(_mm_unpacklo_epi8(s[0], s[1]), _mm_unpacklo_epi8(s[2], s[3])),
          join(_mm_unpackhi_epi8(s[0], s[1]), _mm_unpackhi_epi8(s[2], s[3])),
          _mm_testz_si128(odd_one, odd_one) != 0};
}

// Returns A A B B | C C D D of group `index` (0..7) of one half of the scales, as f32.
inline __m256 group_scale(__m256i scales, std::size_t index) {
  // The byte goes to byte 2 of each dword, zeros elsewhere; shifted by 7 it is the exponent field.
  const int a = static_cast<int>(0x8000'8080u);
  const int b = static_cast<int>(0x8001'8080u);
  const __m256i order = _mm256_add_epi32(_mm256_setr_epi32(a, a, b, b, a, a, b, b),
                                         _mm256_set1_epi32(static_cast<int>(index << 17)));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_shuffle_epi8(scales, order), 7));
}

// Returns the chunk sums of four rows. `x` is the chunk's permuted x.
inline __m128 chunk_4_rows(const Mxfp4Rows& rows, const Mxfp4Scales& scales, std::size_t begin,
                           std::size_t groups, const float* x) {
  const Mxfp4Decoder d = Mxfp4Decoder::make();
  Mxfp4Lanes acc = Mxfp4Lanes::zero();
  __m256i half = scales.first;
  for (std::size_t base = 0; base < groups; base += 8, half = scales.second) {
    const std::size_t count = std::min<std::size_t>(8, groups - base);
    for (std::size_t g = 0; g < count; ++g) {
      const std::size_t k = (base + g) * kMxGroup;
      if (g % 4 == 0) {
        // The next rows' codes: four short streams end before the hardware has learnt them.
        for (const std::byte* codes : rows.codes) {
          _mm_prefetch(reinterpret_cast<const char*>(codes + (begin + k) / 2 + rows.block_bytes),
                       _MM_HINT_T0);
        }
      }
      add_group(d, rows, (begin + k) / 2, x + k, group_scale(half, g), acc);
    }
  }
  return acc.sum();
}

// The rows from `row` on; beyond `row_end` the last one again, whose sum is then not stored.
inline Mxfp4Rows four_rows(const MatrixView& w, std::size_t row, std::size_t row_end) {
  Mxfp4Rows rows;
  rows.block_bytes = 4 * (w.cols / 2);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t r = std::min(row + i, row_end - 1);
    rows.codes[i] = w.data + r * (w.cols / 2);
    rows.scales[i] = w.scales + r * (w.cols / kMxGroup);
  }
  return rows;
}

// Returns total + the chunk [begin, end) of four rows.
inline __m128 add_chunk(const MatrixView& w, std::size_t row, std::size_t row_end,
                        const Mxfp4Rows& rows, std::size_t begin, std::size_t end, const float* x,
                        const float* permuted, __m128 total) {
  const std::size_t groups = (end - begin) / kMxGroup;
  const Mxfp4Scales scales = load_scales(rows, begin / kMxGroup, groups);
  if (scales.ordinary) {
    return _mm_add_ps(total, chunk_4_rows(rows, scales, begin, groups, permuted));
  }
  alignas(16) float sums[4];
  for (std::size_t i = 0; i < 4; ++i) {
    sums[i] = chunk_dot_scalar(w, std::min(row + i, row_end - 1), begin, end, x);
  }
  return _mm_add_ps(total, _mm_load_ps(sums));
}

// y[r] for r in [row_begin, row_end).
void gemv_mxfp4(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                float* y) {
  alignas(64) float permuted[kMxPanel];
  std::fill(y + row_begin, y + row_end, 0.0f);
  for (std::size_t panel = 0; panel < w.cols; panel += kMxPanel) {
    const std::size_t panel_end = std::min(w.cols, panel + kMxPanel);
    permute_x(x + panel, panel_end - panel, permuted);
    for (std::size_t row = row_begin; row < row_end; row += 4) {
      const Mxfp4Rows rows = four_rows(w, row, row_end);
      const std::size_t count = std::min<std::size_t>(4, row_end - row);
      alignas(16) float totals[4] = {};
      std::copy_n(y + row, count, totals);
      __m128 total = _mm_load_ps(totals);
      for (std::size_t begin = panel; begin < panel_end; begin += kDotChunk) {
        const std::size_t end = std::min(panel_end, begin + kDotChunk);
        total = add_chunk(w, row, row_end, rows, begin, end, x, permuted + (begin - panel), total);
      }
      _mm_store_ps(totals, total);
      std::copy_n(totals, count, y + row);
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
