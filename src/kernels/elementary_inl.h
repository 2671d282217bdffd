// SPDX-License-Identifier: Apache-2.0
#pragma once

// The elementary functions as templates over a lane type, so that every instruction set runs the
// same operations in the same order. Included inside a target region by one .cc per instruction
// set; the unnamed namespace keeps each file's copy to itself.
//
// Polynomials: interpolated at Chebyshev nodes in 50-digit arithmetic, coefficients rounded to f32.

#include <cstdint>
#include <limits>

namespace daybreak::kernels {
namespace {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// ln 2 in two parts; the high one has 18 significant bits, so a small integer times it is exact.
inline constexpr float kLn2High = 0x1.62e4p-1f;
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;

// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2; exp(r) = 1 + (r + r^2 q(r)).
template <class V>
inline V exp_lanes(V x) {
  // Outside [-104, 89] the result is 0 or inf for certain. NaN passes both clamps.
  x = min(V::set1(89.0f), max(V::set1(-104.0f), x));
  const V magic = V::set1(0x1.8p23f);  // adding it rounds to an integer, kept in the low bits
  const V t = fma(x, V::set1(0x1.715476p+0f), magic);
  const V n = sub(t, magic);
  V r = fma(n, V::set1(-kLn2High), x);
  r = fma(n, V::set1(-kLn2Low), r);
  V q = V::set1(1.989098091e-04f);
  q = fma(q, r, V::set1(1.393364160e-03f));
  q = fma(q, r, V::set1(8.333310485e-03f));
  q = fma(q, r, V::set1(4.166646674e-02f));
  q = fma(q, r, V::set1(1.666666716e-01f));
  q = fma(q, r, V::set1(5.000000000e-01f));
  const V p = add(V::set1(1.0f), fma(mul(r, r), q, r));
  // 2^n by two factors: n may be -150, beyond one exponent field, and a subnormal result must be
  // rounded once only.
  const V i = sub_int(t, magic);
  const V half = V::template shift_right_signed<1>(i);
  const V bias = V::set1_bits(127u);
  const V first = V::template shift_left<23>(add_int(half, bias));
  const V second = V::template shift_left<23>(add_int(sub_int(i, half), bias));
  return mul(mul(p, first), second);
}

// With e = exp(-|x|), which never overflows: 1 / (1 + e) or e / (1 + e).
template <class V>
inline V sigmoid_lanes(V x) {
  const V one = V::set1(1.0f);
  const V e = exp_lanes(sub(V::set1(0.0f), abs(x)));
  return div(select(less(x, V::set1(0.0f)), e, one), add(one, e));
}

template <class V>
inline V silu_lanes(V x) {
  return mul(x, sigmoid_lanes(x));
}

// Of |x|, the sign is put back at the end. Below 0.625: x + x^3 p(x^2). Above: 1 - 2 / (exp(2x) +
// 1).
template <class V>
inline V tanh_lanes(V x) {
  const V a = abs(x);
  const V z = mul(x, x);
  V p = V::set1(2.292476362e-03f);
  p = fma(p, z, V::set1(-8.343656547e-03f));
  p = fma(p, z, V::set1(2.176880464e-02f));
  p = fma(p, z, V::set1(-5.395923927e-02f));
  p = fma(p, z, V::set1(1.333330274e-01f));
  p = fma(p, z, V::set1(-3.333333433e-01f));
  const V small = fma(mul(p, z), a, a);
  const V one = V::set1(1.0f);
  const V e = exp_lanes(add(a, a));
  const V large = sub(one, div(V::set1(2.0f), add(e, one)));
  return with_sign_of(select(less(a, V::set1(0.625f)), small, large), x);
}

// x = 2^e m, sqrt(1/2) <= m < sqrt(2), f = m - 1: log(x) = e ln 2 + f - f^2 / 2 + f^3 p(f).
template <class V>
inline V log_lanes(V x) {
  const typename V::Mask subnormal = less(x, V::set1(0x1p-126f));
  const V normal = select(subnormal, mul(x, V::set1(0x1p25f)), x);
  const V root_half = V::set1_bits(0x3f35'04f3u);
  const V offset = sub_int(normal, root_half);
  V e = int_to_float(V::template shift_right_signed<23>(offset));
  e = sub(e, select(subnormal, V::set1(25.0f), V::set1(0.0f)));
  const V m = add_int(and_int(offset, V::set1_bits(0x007f'ffffu)), root_half);
  const V f = sub(m, V::set1(1.0f));
  V p = V::set1(6.971611828e-02f);
  p = fma(p, f, V::set1(-1.147973388e-01f));
  p = fma(p, f, V::set1(1.168541983e-01f));
  p = fma(p, f, V::set1(-1.242568716e-01f));
  p = fma(p, f, V::set1(1.424905807e-01f));
  p = fma(p, f, V::set1(-1.666780263e-01f));
  p = fma(p, f, V::set1(2.000071555e-01f));
  p = fma(p, f, V::set1(-2.499999702e-01f));
  p = fma(p, f, V::set1(3.333333135e-01f));
  const V z = mul(f, f);
  V y = mul(mul(f, z), p);
  y = fma(e, V::set1(kLn2Low), y);
  y = fma(V::set1(-0.5f), z, y);
  V result = fma(e, V::set1(kLn2High), add(f, y));
  result = select(equal(x, V::set1(kInfinity)), x, result);
  result = select(equal(x, V::set1(0.0f)), V::set1(-kInfinity), result);
  result = select(less(x, V::set1(0.0f)), V::set1(kNan), result);
  return select(is_nan(x), x, result);
}

// With w = 1 + x rounded, log(1 + x) = log(w) + (what the rounding lost) / w.
template <class V>
inline V log1p_lanes(V x) {
  const V one = V::set1(1.0f);
  const V w = add(one, x);
  const V lost = sub(x, sub(w, one));
  const V result = add(log_lanes(w), div(lost, w));
  // At -1 the correction is 0 / 0 and at inf it is inf - inf; log(w) alone is right there.
  const V plain = log_lanes(w);
  const V checked = select(equal(w, V::set1(0.0f)), plain, result);
  return select(equal(x, V::set1(kInfinity)), x, checked);
}

template <class V>
inline V softplus_lanes(V x) {
  const V zero = V::set1(0.0f);
  return add(max(zero, x), log1p_lanes(exp_lanes(sub(zero, abs(x)))));
}

}  // namespace
}  // namespace daybreak::kernels
