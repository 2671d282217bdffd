// SPDX-License-Identifier: Apache-2.0
#pragma once

// Absorbed multi-head latent attention, one tile of 64 positions at a time (rule 5). A tile is
// always reduced whole: its scores, maximum, sum and weighted latents are formed from +0 and only
// then merged. So the result depends on absolute positions alone, never on pages, chunks or hits.
//
// Use: per head and super-tile, mla_reset; mla_tile for its tiles ascending; then mla_merge the
// super-tiles ascending into one accumulator that was reset; then mla_finish.

#include <cstddef>

#include "kernels/attention.h"
#include "kernels/dispatch.h"

namespace daybreak::kernels {

// Makes the accumulator empty: max -inf, sum 0, values 0.
void mla_reset(const MlaAccumulator& acc, std::size_t rank);

// For each head h: s_i = dot(q_h, rows_i over width) * scale for i < valid; m = max s_i;
// p_i = exp(s_i - m); sum of p by rule 1; values[c] = chain of fma(p_i, rows_i[c]) ascending in i;
// then merged into acc[h] as mla_merge does.
//   acc: [heads] accumulators.  REQUIRES: 1 <= valid <= 64, rank <= width.
inline void mla_tile(const MlaTileQueries& queries, const MlaTileRows& rows, MlaAccumulator* acc) {
  active().mla_tile(queries, rows, acc);
}

// Adds `from` (later positions) to `into` (earlier ones): with m the larger maximum,
// a = exp(into.max - m), b = exp(from.max - m): into.x = fma(into.x, a, from.x * b) for the sum and
// each value. An empty side leaves the other's bits as they are.
inline void mla_merge(const MlaAccumulator& into, const MlaAccumulator& from, std::size_t rank) {
  active().mla_merge(into, from, rank);
}

// out[c] = values[c] / sum.  REQUIRES: acc is not empty.
void mla_finish(const MlaAccumulator& acc, std::size_t rank, float* out);

}  // namespace daybreak::kernels
