// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels of norm.h as templates over an instruction set: Isa::V is its lane type and Isa::dot
// its rule-1 dot product. See elementary_inl.h for how the file is used.

#include <cmath>
#include <cstddef>

#include "kernels/elementwise_inl.h"
#include "kernels/matmul.h"

namespace daybreak::kernels {
namespace {

template <class Isa>
void rms_norm_kernel(const float* x, const float* weight, float eps, std::size_t n, float* y) {
  using V = typename Isa::V;
  const double mean = double{Isa::dot(x, x, n)} / static_cast<double>(n);
  const V inverse = V::set1(static_cast<float>(1.0 / std::sqrt(mean + double{eps})));
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    V value = mul(load_count<V>(x + i, count), inverse);
    if (weight != nullptr) {
      value = mul(value, load_count<V>(weight + i, count));
    }
    store_count(value, y + i, count);
  }
}

template <class Isa>
void l2_normalize_kernel(const float* x, std::size_t n, float eps, float scale, float* y) {
  using V = typename Isa::V;
  const double sum = Isa::dot(x, x, n);
  const V factor = V::set1(static_cast<float>(double{scale} / std::sqrt(sum + double{eps})));
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    store_count(mul(load_count<V>(x + i, count), factor), y + i, count);
  }
}

template <class Isa>
float max_of_kernel(const float* x, std::size_t n) {
  using V = typename Isa::V;
  // max() returns its second argument for a NaN, so the running maximum stands there.
  V best = V::set1(-kInfinity);
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) {
    best = max(V::load(x + i), best);
  }
  float lanes[V::kWidth];
  best.store(lanes);
  float result = lanes[0];
  for (std::size_t j = 1; j < V::kWidth; ++j) {
    result = lanes[j] > result ? lanes[j] : result;
  }
  for (; i < n; ++i) {
    result = x[i] > result ? x[i] : result;
  }
  // +0 and -0 compare equal, so which one is met first would show in the result.
  return result + 0.0f;
}

// Replaces x by exp(x - max) in `out` and returns the sum by rule 1, a chunk at a time.
template <class Isa>
float exp_and_sum(const float* x, std::size_t n, float max, float* out) {
  using V = typename Isa::V;
  alignas(64) static constexpr auto kOnes = [] {
    struct Ones {
      float v[kDotChunk];
    } ones{};
    for (float& one : ones.v) {
      one = 1.0f;
    }
    return ones;
  }();
  float total = 0.0f;
  for (std::size_t begin = 0; begin < n; begin += kDotChunk) {
    const std::size_t chunk = n - begin < kDotChunk ? n - begin : kDotChunk;
    alignas(64) float scratch[kDotChunk];
    float* const e = out != nullptr ? out + begin : scratch;
    for (std::size_t i = 0; i < chunk; i += V::kWidth) {
      const std::size_t count = chunk - i < V::kWidth ? chunk - i : V::kWidth;
      const V shifted = sub(load_count<V>(x + begin + i, count), V::set1(max));
      store_count(exp_lanes(shifted), e + i, count);
    }
    total += Isa::dot(e, kOnes.v, chunk);
  }
  return total;
}

template <class Isa>
float sum_exp_kernel(const float* x, std::size_t n, float max) {
  return exp_and_sum<Isa>(x, n, max, nullptr);
}

template <class Isa>
void softmax_inplace_kernel(float* x, std::size_t n) {
  using V = typename Isa::V;
  const V sum = V::set1(exp_and_sum<Isa>(x, n, max_of_kernel<Isa>(x, n), x));
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    store_count(div(load_count<V>(x + i, count), sum), x + i, count);
  }
}

}  // namespace
}  // namespace daybreak::kernels
