// SPDX-License-Identifier: Apache-2.0
#pragma once

// Avx2Lane: eight f32 with the operations of ScalarLane (lanes_scalar.h). Include it inside a
// target region for avx2, fma, below the standard headers; the unnamed namespace keeps each file's
// copy to itself.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace daybreak::kernels {
namespace {

// A window of kTailMask selects the first n of eight lanes.
alignas(64) inline constexpr std::int32_t kTailMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

struct Avx2Lane {
  static constexpr std::size_t kWidth = 8;
  __m256 v;

  struct Mask {
    __m256 v;
  };

  static __m256i first(std::size_t n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kTailMask + 8 - n));
  }

  static Avx2Lane load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static Avx2Lane load_first(const float* p, std::size_t n) {
    return {_mm256_maskload_ps(p, first(n))};
  }
  static Avx2Lane load_strided(const float* p, std::size_t stride) {
    return {_mm256_setr_ps(p[0], p[stride], p[2 * stride], p[3 * stride], p[4 * stride],
                           p[5 * stride], p[6 * stride], p[7 * stride])};
  }
  static Avx2Lane set1(float x) { return {_mm256_set1_ps(x)}; }
  static Avx2Lane set1_bits(std::uint32_t bits) {
    return {_mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(bits)))};
  }

  void store(float* p) const { _mm256_storeu_ps(p, v); }
  void store_first(float* p, std::size_t n) const { _mm256_maskstore_ps(p, first(n), v); }

  friend Avx2Lane add(Avx2Lane a, Avx2Lane b) { return {_mm256_add_ps(a.v, b.v)}; }
  friend Avx2Lane sub(Avx2Lane a, Avx2Lane b) { return {_mm256_sub_ps(a.v, b.v)}; }
  friend Avx2Lane mul(Avx2Lane a, Avx2Lane b) { return {_mm256_mul_ps(a.v, b.v)}; }
  friend Avx2Lane div(Avx2Lane a, Avx2Lane b) { return {_mm256_div_ps(a.v, b.v)}; }
  friend Avx2Lane fma(Avx2Lane a, Avx2Lane b, Avx2Lane c) {
    return {_mm256_fmadd_ps(a.v, b.v, c.v)};
  }
  friend Avx2Lane min(Avx2Lane a, Avx2Lane b) { return {_mm256_min_ps(a.v, b.v)}; }
  friend Avx2Lane max(Avx2Lane a, Avx2Lane b) { return {_mm256_max_ps(a.v, b.v)}; }
  friend Avx2Lane abs(Avx2Lane a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
  friend Avx2Lane with_sign_of(Avx2Lane a, Avx2Lane b) {
    return {_mm256_or_ps(a.v, _mm256_and_ps(_mm256_set1_ps(-0.0f), b.v))};
  }

  friend Mask less(Avx2Lane a, Avx2Lane b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
  friend Mask equal(Avx2Lane a, Avx2Lane b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
  friend Mask is_nan(Avx2Lane a) { return {_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q)}; }
  friend Avx2Lane select(Mask m, Avx2Lane yes, Avx2Lane no) {
    return {_mm256_blendv_ps(no.v, yes.v, m.v)};
  }

  friend Avx2Lane add_int(Avx2Lane a, Avx2Lane b) {
    return from_int(_mm256_add_epi32(a.to_int(), b.to_int()));
  }
  friend Avx2Lane sub_int(Avx2Lane a, Avx2Lane b) {
    return from_int(_mm256_sub_epi32(a.to_int(), b.to_int()));
  }
  friend Avx2Lane and_int(Avx2Lane a, Avx2Lane b) { return {_mm256_and_ps(a.v, b.v)}; }
  template <int kBy>
  static Avx2Lane shift_left(Avx2Lane a) {
    return from_int(_mm256_slli_epi32(a.to_int(), kBy));
  }
  template <int kBy>
  static Avx2Lane shift_right_signed(Avx2Lane a) {
    return from_int(_mm256_srai_epi32(a.to_int(), kBy));
  }
  friend Avx2Lane int_to_float(Avx2Lane a) { return {_mm256_cvtepi32_ps(a.to_int())}; }

 private:
  [[nodiscard]] __m256i to_int() const { return _mm256_castps_si256(v); }
  static Avx2Lane from_int(__m256i bits) { return {_mm256_castsi256_ps(bits)}; }
};

}  // namespace
}  // namespace daybreak::kernels
