// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels of kda.h as templates over a lane type. See elementary_inl.h for how the file is
// used.

#include <cstddef>

#include "kernels/elementwise_inl.h"
#include "kernels/kda.h"
#include "kernels/lanes_scalar.h"

namespace daybreak::kernels {
namespace {

template <class V>
void conv_silu_kernel(const float* const* taps, std::size_t taps_count, const float* w,
                      std::size_t channel_begin, std::size_t channel_end, float* out) {
  std::size_t c = channel_begin;
  for (; c + V::kWidth <= channel_end; c += V::kWidth) {
    V sum = V::set1(0.0f);
    for (std::size_t j = 0; j < taps_count; ++j) {
      sum = fma(V::load_strided(w + c * taps_count + j, taps_count), V::load(taps[j] + c), sum);
    }
    silu_lanes(sum).store(out + c);
  }
  for (; c < channel_end; ++c) {
    ScalarLane sum{0.0f};
    for (std::size_t j = 0; j < taps_count; ++j) {
      sum = fma(ScalarLane{w[c * taps_count + j]}, ScalarLane{taps[j][c]}, sum);
    }
    silu_lanes(sum).store(out + c);
  }
}

template <class V>
void kda_gate_kernel(const float* z, float a_log, const float* dt_bias, const float* lower_bound,
                     std::size_t n, float* decay) {
  const float a = exp_lanes(ScalarLane{a_log}).v;
  for (std::size_t i = 0; i < n; i += V::kWidth) {
    const std::size_t count = n - i < V::kWidth ? n - i : V::kWidth;
    const V shifted = add(load_count<V>(z + i, count), load_count<V>(dt_bias + i, count));
    V g;
    if (lower_bound != nullptr) {
      g = mul(V::set1(*lower_bound), sigmoid_lanes(mul(V::set1(a), shifted)));
    } else {
      g = mul(V::set1(-a), softplus_lanes(shifted));
    }
    store_count(exp_lanes(g), decay + i, count);
  }
}

// Decays and writes one vector of a row of the state, and returns it.
template <class V>
inline V kda_written(float* row, float k, float decay, V w) {
  const V decayed = mul(V::load(row), V::set1(decay));
  const V written = fma(V::set1(k), w, decayed);
  const V kept = select(less(abs(written), V::set1(kStateFlushBelow)), V::set1(0.0f), written);
  kept.store(row);
  return kept;
}

// kVectors adjacent vectors of columns: independent chains hide the latency of each one.
template <class V, std::size_t kVectors>
inline void kda_columns(float* state, const KdaInputs& in, std::size_t dk, std::size_t dv,
                        std::size_t column, float* out, float* w_out) {
  V u[kVectors];
  for (V& x : u) {
    x = V::set1(0.0f);
  }
  for (std::size_t k = 0; k < dk; ++k) {
    const float* const row = state + k * dv + column;
    for (std::size_t i = 0; i < kVectors; ++i) {
      const V decayed = mul(V::load(row + i * V::kWidth), V::set1(in.decay[k]));
      u[i] = fma(V::set1(in.k[k]), decayed, u[i]);
    }
  }
  V w[kVectors];
  V o[kVectors];
  for (std::size_t i = 0; i < kVectors; ++i) {
    w[i] = mul(V::set1(in.beta), sub(V::load(in.v + column + i * V::kWidth), u[i]));
    o[i] = V::set1(0.0f);
    if (w_out != nullptr) {
      w[i].store(w_out + column + i * V::kWidth);
    }
  }
  for (std::size_t k = 0; k < dk; ++k) {
    float* const row = state + k * dv + column;
    for (std::size_t i = 0; i < kVectors; ++i) {
      // Decays again: the same product as in the first pass, cheaper than storing it.
      const V kept = kda_written(row + i * V::kWidth, in.k[k], in.decay[k], w[i]);
      o[i] = fma(V::set1(in.q[k]), kept, o[i]);
    }
  }
  for (std::size_t i = 0; i < kVectors; ++i) {
    o[i].store(out + column + i * V::kWidth);
  }
}

template <class V>
void kda_step_kernel(float* state, const KdaInputs& in, std::size_t dk, std::size_t dv, float* out,
                     float* w_out) {
  std::size_t column = 0;
  for (; column + 4 * V::kWidth <= dv; column += 4 * V::kWidth) {
    kda_columns<V, 4>(state, in, dk, dv, column, out, w_out);
  }
  for (; column + V::kWidth <= dv; column += V::kWidth) {
    kda_columns<V, 1>(state, in, dk, dv, column, out, w_out);
  }
  for (; column < dv; ++column) {
    kda_columns<ScalarLane, 1>(state, in, dk, dv, column, out, w_out);
  }
}

template <class V>
void kda_write_kernel(float* state, const float* k, const float* decay, const float* w,
                      std::size_t dk, std::size_t dv) {
  for (std::size_t row = 0; row < dk; ++row) {
    float* const values = state + row * dv;
    std::size_t column = 0;
    for (; column + V::kWidth <= dv; column += V::kWidth) {
      kda_written(values + column, k[row], decay[row], V::load(w + column));
    }
    for (; column < dv; ++column) {
      kda_written(values + column, k[row], decay[row], ScalarLane{w[column]});
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
