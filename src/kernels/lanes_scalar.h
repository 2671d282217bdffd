// SPDX-License-Identifier: Apache-2.0
#pragma once

// ScalarLane: one f32 with the operations the kernel templates are written in. It is the definition
// of those operations; the wider lane types must give the same bits per lane. min and max return
// their second argument when an argument is NaN, as the x86 instructions do.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace daybreak::kernels {

struct ScalarLane {
  static constexpr std::size_t kWidth = 1;
  float v;

  struct Mask {
    bool v;
  };

  static ScalarLane load(const float* p) { return {*p}; }
  // Elements from `n` on are 0. REQUIRES: n <= kWidth.
  static ScalarLane load_first(const float* p, std::size_t n) { return {n == 0 ? 0.0f : *p}; }
  // Lane i is p[i * stride].
  static ScalarLane load_strided(const float* p, std::size_t /*stride*/) { return {*p}; }
  static ScalarLane set1(float x) { return {x}; }
  static ScalarLane set1_bits(std::uint32_t bits) { return {std::bit_cast<float>(bits)}; }

  void store(float* p) const { *p = v; }
  void store_first(float* p, std::size_t n) const {
    if (n != 0) {
      *p = v;
    }
  }

  [[nodiscard]] std::uint32_t bits() const { return std::bit_cast<std::uint32_t>(v); }

  friend ScalarLane add(ScalarLane a, ScalarLane b) { return {a.v + b.v}; }
  friend ScalarLane sub(ScalarLane a, ScalarLane b) { return {a.v - b.v}; }
  friend ScalarLane mul(ScalarLane a, ScalarLane b) { return {a.v * b.v}; }
  friend ScalarLane div(ScalarLane a, ScalarLane b) { return {a.v / b.v}; }
  // a * b + c, rounded once.
  friend ScalarLane fma(ScalarLane a, ScalarLane b, ScalarLane c) {
    return {std::fma(a.v, b.v, c.v)};
  }
  friend ScalarLane min(ScalarLane a, ScalarLane b) { return {a.v < b.v ? a.v : b.v}; }
  friend ScalarLane max(ScalarLane a, ScalarLane b) { return {a.v > b.v ? a.v : b.v}; }
  friend ScalarLane abs(ScalarLane a) { return set1_bits(a.bits() & 0x7fff'ffffu); }
  // The magnitude of a with the sign of b. REQUIRES: a's sign bit is clear.
  friend ScalarLane with_sign_of(ScalarLane a, ScalarLane b) {
    return set1_bits(a.bits() | (b.bits() & 0x8000'0000u));
  }

  friend Mask less(ScalarLane a, ScalarLane b) { return {a.v < b.v}; }
  friend Mask equal(ScalarLane a, ScalarLane b) { return {a.v == b.v}; }
  friend Mask is_nan(ScalarLane a) { return {a.v != a.v}; }
  friend ScalarLane select(Mask m, ScalarLane yes, ScalarLane no) { return m.v ? yes : no; }

  // Operations on the 32 bits as a two's-complement integer.
  friend ScalarLane add_int(ScalarLane a, ScalarLane b) { return set1_bits(a.bits() + b.bits()); }
  friend ScalarLane sub_int(ScalarLane a, ScalarLane b) { return set1_bits(a.bits() - b.bits()); }
  friend ScalarLane and_int(ScalarLane a, ScalarLane b) { return set1_bits(a.bits() & b.bits()); }
  template <int kBy>
  static ScalarLane shift_left(ScalarLane a) {
    return set1_bits(a.bits() << kBy);
  }
  template <int kBy>
  static ScalarLane shift_right_signed(ScalarLane a) {
    return set1_bits(static_cast<std::uint32_t>(std::bit_cast<std::int32_t>(a.v) >> kBy));
  }
  // The integer as a float.
  friend ScalarLane int_to_float(ScalarLane a) {
    return {static_cast<float>(std::bit_cast<std::int32_t>(a.v))};
  }
};

}  // namespace daybreak::kernels
