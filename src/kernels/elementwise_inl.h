// SPDX-License-Identifier: Apache-2.0
#pragma once

// The array kernels of elementwise.h as templates over a lane type. See elementary_inl.h for how
// the file is used.

#include <cstddef>

#include "kernels/elementary_inl.h"

namespace daybreak::kernels {
namespace {

template <class V>
inline V load_count(const float* p, std::size_t count) {
  return count == V::kWidth ? V::load(p) : V::load_first(p, count);
}

template <class V>
inline void store_count(V value, float* p, std::size_t count) {
  if (count == V::kWidth) {
    value.store(p);
  } else {
    value.store_first(p, count);
  }
}

#define DAYBREAK_UNARY_KERNEL(name)                                         \
  template <class V>                                                        \
  void name##_inplace_kernel(float* x, std::size_t n) {                     \
    for (std::size_t i = 0; i < n; i += V::kWidth) {                        \
      const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;      \
      store_count(name##_lanes(load_count<V>(x + i, count)), x + i, count); \
    }                                                                       \
  }
DAYBREAK_UNARY_KERNEL(exp)
DAYBREAK_UNARY_KERNEL(sigmoid)
DAYBREAK_UNARY_KERNEL(tanh)
DAYBREAK_UNARY_KERNEL(log)
DAYBREAK_UNARY_KERNEL(softplus)
DAYBREAK_UNARY_KERNEL(silu)
#undef DAYBREAK_UNARY_KERNEL

template <class V>
void add_inplace_kernel(float* y, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    store_count(add(load_count<V>(y + i, count), load_count<V>(x + i, count)), y + i, count);
  }
}

template <class V>
void scale_inplace_kernel(float* y, float factor, std::size_t n) {
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    store_count(mul(load_count<V>(y + i, count), V::set1(factor)), y + i, count);
  }
}

template <class V>
void scaled_add_kernel(float* y, float factor, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    const V sum = fma(V::set1(factor), load_count<V>(x + i, count), load_count<V>(y + i, count));
    store_count(sum, y + i, count);
  }
}

template <class V>
void sigmoid_mul_kernel(float* y, const float* gate, std::size_t n) {
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    const V gated = sigmoid_lanes(load_count<V>(gate + i, count));
    store_count(mul(load_count<V>(y + i, count), gated), y + i, count);
  }
}

template <class V>
void silu_mul_kernel(const float* gate, const float* up, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    const V gated = silu_lanes(load_count<V>(gate + i, count));
    store_count(mul(gated, load_count<V>(up + i, count)), out + i, count);
  }
}

template <class V>
void situ_mul_kernel(const float* gate, const float* up, float beta, const float* linear_beta,
                     float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    const V g = load_count<V>(gate + i, count);
    V u = load_count<V>(up + i, count);
    const V capped = mul(V::set1(beta), tanh_lanes(div(g, V::set1(beta))));
    if (linear_beta != nullptr) {
      const V b2 = V::set1(*linear_beta);
      u = mul(b2, tanh_lanes(div(u, b2)));
    }
    store_count(mul(mul(capped, sigmoid_lanes(g)), u), out + i, count);
  }
}

}  // namespace
}  // namespace daybreak::kernels
