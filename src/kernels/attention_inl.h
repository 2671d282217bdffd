// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels of attn_res.h and mla.h as templates over an instruction set: besides V and dot,
// Isa::scores computes rule-1 dots of several queries with several rows. See elementary_inl.h for
// how the file is used.

#include <cmath>
#include <cstddef>

#include "kernels/attention.h"
#include "kernels/attn_res.h"
#include "kernels/lanes_scalar.h"
#include "kernels/norm_inl.h"

namespace daybreak::kernels {
namespace {

// Heads whose weighted sums are formed together, to read each latent row once for all of them.
inline constexpr std::size_t kMlaHeads = 4;

template <class Isa>
void attn_res_mix_kernel(const float* const* sources, std::size_t n_sources,
                         const float* folded_weight, float eps, std::size_t width, float* out) {
  using V = typename Isa::V;
  float p[kMaxAttnResSources];
  for (std::size_t j = 0; j < n_sources; ++j) {
    const float mean = Isa::dot(sources[j], sources[j], width) / static_cast<float>(width);
    p[j] = Isa::dot(sources[j], folded_weight, width) * (1.0f / std::sqrt(mean + eps));
  }
  softmax_inplace_kernel<Isa>(p, n_sources);
  for (std::size_t i = 0; i < width; i += V::kWidth) {
    const std::size_t count = width - i < V::kWidth ? width - i : V::kWidth;
    V sum = V::set1(0.0f);
    for (std::size_t j = 0; j < n_sources; ++j) {
      sum = fma(V::set1(p[j]), load_count<V>(sources[j] + i, count), sum);
    }
    store_count(sum, out + i, count);
  }
}

// Factors that bring two partial softmaxes to their common maximum.
struct MergeFactors {
  float into;
  float from;
  float max;
};

// REQUIRES: from_max > -inf.
template <class Isa>
inline MergeFactors merge_factors(float into_max, float from_max) {
  const float max = from_max > into_max ? from_max : into_max;
  const ScalarLane into = exp_lanes(ScalarLane{into_max - max});
  const ScalarLane from = exp_lanes(ScalarLane{from_max - max});
  return {into.v, from.v, max};
}

template <class Isa>
void mla_merge_kernel(const MlaAccumulator& into, const MlaAccumulator& from, std::size_t rank) {
  using V = typename Isa::V;
  if (*from.max == -kInfinity) {
    return;
  }
  const MergeFactors f = merge_factors<Isa>(*into.max, *from.max);
  *into.sum = std::fma(*into.sum, f.into, *from.sum * f.from);
  *into.max = f.max;
  for (std::size_t i = 0; i < rank; i += V::kWidth) {
    const std::size_t count = rank - i < V::kWidth ? rank - i : V::kWidth;
    const V added = mul(load_count<V>(from.values + i, count), V::set1(f.from));
    store_count(fma(load_count<V>(into.values + i, count), V::set1(f.into), added), into.values + i,
                count);
  }
}

// One head's softmax over a tile.
struct TileWeights {
  alignas(64) float p[kMlaTile];
  float max;
  float sum;
  MergeFactors merge;
};

template <class Isa>
inline void weigh_tile(const MlaAccumulator& acc, float scale, std::size_t valid, TileWeights& w) {
  using V = typename Isa::V;
  for (std::size_t i = 0; i < valid; i += V::kWidth) {
    const std::size_t count = valid - i < V::kWidth ? valid - i : V::kWidth;
    store_count(mul(load_count<V>(w.p + i, count), V::set1(scale)), w.p + i, count);
  }
  w.max = max_of_kernel<Isa>(w.p, valid);
  w.sum = exp_and_sum<Isa>(w.p, valid, w.max, w.p);
  w.merge = merge_factors<Isa>(*acc.max, w.max);
  *acc.sum = std::fma(*acc.sum, w.merge.into, w.sum * w.merge.from);
  *acc.max = w.merge.max;
}

// values = fma(values, into, tile * from), where tile is the weighted sum of rows in column order.
template <class Isa, std::size_t kHeads>
inline void add_tile_values(const TileWeights* w, const MlaTileRows& rows,
                            const MlaAccumulator* acc) {
  using V = typename Isa::V;
  for (std::size_t c = 0; c < rows.rank; c += V::kWidth) {
    const std::size_t count = rows.rank - c < V::kWidth ? rows.rank - c : V::kWidth;
    V sums[kHeads];
    for (V& sum : sums) {
      sum = V::set1(0.0f);
    }
    for (std::size_t i = 0; i < rows.valid; ++i) {
      const V latent = load_count<V>(rows.rows + i * rows.stride + c, count);
      for (std::size_t h = 0; h < kHeads; ++h) {
        sums[h] = fma(V::set1(w[h].p[i]), latent, sums[h]);
      }
    }
    for (std::size_t h = 0; h < kHeads; ++h) {
      float* const values = acc[h].values + c;
      const V added = mul(sums[h], V::set1(w[h].merge.from));
      store_count(fma(load_count<V>(values, count), V::set1(w[h].merge.into), added), values,
                  count);
    }
  }
}

template <class Isa, std::size_t kHeads>
inline void mla_tile_heads(const MlaTileQueries& queries, std::size_t head, const MlaTileRows& rows,
                           const MlaAccumulator* acc) {
  TileWeights w[kHeads];
  float* scores[kHeads];
  for (std::size_t h = 0; h < kHeads; ++h) {
    scores[h] = w[h].p;
  }
  Isa::template scores<kHeads>(queries.q + head * queries.stride, queries.stride, rows, scores);
  for (std::size_t h = 0; h < kHeads; ++h) {
    weigh_tile<Isa>(acc[head + h], queries.scale, rows.valid, w[h]);
  }
  add_tile_values<Isa, kHeads>(w, rows, acc + head);
}

template <class Isa>
void mla_tile_kernel(const MlaTileQueries& queries, const MlaTileRows& rows, MlaAccumulator* acc) {
  std::size_t head = 0;
  for (; head + kMlaHeads <= queries.heads; head += kMlaHeads) {
    mla_tile_heads<Isa, kMlaHeads>(queries, head, rows, acc);
  }
  for (; head < queries.heads; ++head) {
    mla_tile_heads<Isa, 1>(queries, head, rows, acc);
  }
}

}  // namespace
}  // namespace daybreak::kernels
