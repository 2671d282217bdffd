// SPDX-License-Identifier: Apache-2.0
#pragma once

// One group of 32 MXFP4 weights of four rows times x. Decoding four-bit codes is what limits it, so
// the layout serves the decoder: codes go through two byte shuffles (the two non-zero bytes of each
// value's bf16), and an f32 is either half of the resulting dword. That puts two residues of k mod
// 8 next to each other, for two rows, in each 128-bit half:
//
//   codes of a group    A | C        B | D         16 bytes each; dword i holds k = 8i .. 8i + 7
//   interleaved         A0 B0 A1 B1 | C0 D0 C1 D1  (and A2 B2 A3 B3 | ..)
//   shuffled, step i    A(0,2) A(4,6) B(0,2) B(4,6) | C .. D ..     even k; odd k likewise
//   low halves          A0 A4 B0 B4 | C0 C4 D0 D4  times x0 x4 x0 x4 | ..  = lanes "04"
//   high halves         A2 A6 B2 B6 | ..                                   = lanes "26"
//
// so each (row, residue) keeps its own lane and the chains of rule 2 are intact. x is permuted once
// per panel to pairs (0,4) (2,6) (1,5) (3,7). Include it inside a target region for avx2, fma,
// f16c.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/load8_avx2_inl.h"

namespace daybreak::kernels {
namespace {

struct Mxfp4Rows {
  const std::byte* codes[4];
  const std::uint8_t* scales[4];
  std::size_t block_bytes;  // from these rows to the next four
};

// Lanes of four rows: 04 holds A0 A4 B0 B4 | C0 C4 D0 D4, and so on.
struct Mxfp4Lanes {
  __m256 l04;
  __m256 l26;
  __m256 l15;
  __m256 l37;

  // A member initialiser would put the intrinsic into an implicit constructor, which a target
  // region does not reach.
  static Mxfp4Lanes zero() {
    const __m256 z = _mm256_setzero_ps();
    return {z, z, z, z};
  }

  // Returns the four rows' sums by the tree of rule 1.
  [[nodiscard]] __m128 sum() const {
    const __m256 even = _mm256_hadd_ps(l04, l26);  // A04 B04 A26 B26 | C .. D ..
    const __m256 odd = _mm256_hadd_ps(l15, l37);
    const __m256 even_sum = _mm256_add_ps(even, _mm256_permute_ps(even, 0x4e));
    const __m256 odd_sum = _mm256_add_ps(odd, _mm256_permute_ps(odd, 0x4e));
    const __m256 total = _mm256_add_ps(even_sum, odd_sum);  // A B A B | C D C D
    return _mm_movelh_ps(_mm256_castps256_ps128(total), _mm256_extractf128_ps(total, 1));
  }
};

// out[8i ..] = x[8i + 0, 4, 2, 6, 1, 5, 3, 7]
inline void permute_x(const float* x, std::size_t n, float* out) {
  const __m256i order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
  for (std::size_t k = 0; k < n; k += 8) {
    _mm256_store_ps(out + k, _mm256_permutevar8x32_ps(_mm256_loadu_ps(x + k), order));
  }
}

inline __m256 pair(const float* x) {
  double both;
  std::memcpy(&both, x, sizeof both);
  return _mm256_castpd_ps(_mm256_set1_pd(both));
}

inline __m256 low_half(__m256i words) { return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16)); }
inline __m256 high_half(__m256i words, __m256i mask) {
  return _mm256_castsi256_ps(_mm256_and_si256(words, mask));
}

inline __m128i load16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

inline __m256i join(__m128i low, __m128i high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// The decoder's constants, kept in registers.
struct Mxfp4Decoder {
  __m256i low_bytes;
  __m256i high_bytes;
  __m256i nibble;
  __m256i high_mask;

  static Mxfp4Decoder make() {
    Mxfp4Decoder d = {e2m1_low_bytes(), e2m1_high_bytes(), _mm256_set1_epi8(0xf),
                      _mm256_set1_epi32(static_cast<int>(0xffff0000u))};
    // Opaque to the compiler, which otherwise turns the mask into a blend that only one port runs.
    asm("" : "+x"(d.high_mask));
    return d;
  }
};

// The chains of two residues over one group: four steps of `first` (low halves) and of `second`.
// `early` and `late` hold the codes of steps 0, 1 and 2, 3. The first step is a product, which
// equals the fma from +0 but for the sign of a zero, which no later sum can see.
struct TwoChains {
  __m256 first;
  __m256 second;
};

inline TwoChains run_chains(const Mxfp4Decoder& d, __m256i early, __m256i late, const float* x) {
  __m256i low = _mm256_shuffle_epi8(d.low_bytes, early);
  __m256i high = _mm256_shuffle_epi8(d.high_bytes, early);
  __m256i words = _mm256_unpacklo_epi8(low, high);
  TwoChains s;
  s.first = _mm256_mul_ps(low_half(words), pair(x));
  s.second = _mm256_mul_ps(high_half(words, d.high_mask), pair(x + 2));
  words = _mm256_unpackhi_epi8(low, high);
  s.first = _mm256_fmadd_ps(low_half(words), pair(x + 8), s.first);
  s.second = _mm256_fmadd_ps(high_half(words, d.high_mask), pair(x + 10), s.second);
  low = _mm256_shuffle_epi8(d.low_bytes, late);
  high = _mm256_shuffle_epi8(d.high_bytes, late);
  words = _mm256_unpacklo_epi8(low, high);
  s.first = _mm256_fmadd_ps(low_half(words), pair(x + 16), s.first);
  s.second = _mm256_fmadd_ps(high_half(words, d.high_mask), pair(x + 18), s.second);
  words = _mm256_unpackhi_epi8(low, high);
  s.first = _mm256_fmadd_ps(low_half(words), pair(x + 24), s.first);
  s.second = _mm256_fmadd_ps(high_half(words, d.high_mask), pair(x + 26), s.second);
  return s;
}

// acc = fma(group sums, scale, acc); `scale` is A A B B | C C D D.
inline void add_group(const Mxfp4Decoder& d, const Mxfp4Rows& rows, std::size_t byte,
                      const float* x, __m256 scale, Mxfp4Lanes& acc) {
  const __m256i ac = join(load16(rows.codes[0] + byte), load16(rows.codes[2] + byte));
  const __m256i bd = join(load16(rows.codes[1] + byte), load16(rows.codes[3] + byte));
  const __m256i early = _mm256_unpacklo_epi32(ac, bd);
  const __m256i late = _mm256_unpackhi_epi32(ac, bd);
  const TwoChains even =
      run_chains(d, _mm256_and_si256(early, d.nibble), _mm256_and_si256(late, d.nibble), x);
  acc.l04 = _mm256_fmadd_ps(even.first, scale, acc.l04);
  acc.l26 = _mm256_fmadd_ps(even.second, scale, acc.l26);
  const TwoChains odd = run_chains(d, _mm256_and_si256(_mm256_srli_epi16(early, 4), d.nibble),
                                   _mm256_and_si256(_mm256_srli_epi16(late, 4), d.nibble), x + 4);
  acc.l15 = _mm256_fmadd_ps(odd.first, scale, acc.l15);
  acc.l37 = _mm256_fmadd_ps(odd.second, scale, acc.l37);
}

}  // namespace
}  // namespace daybreak::kernels
