// SPDX-License-Identifier: Apache-2.0
#pragma once

// Linear layers over a thread team. One call runs any number of independent products, so that a
// layer with many small ones (experts, projections of one input) meets one barrier for all of them.
// Output rows are split over the threads, never a row's sum (numerics rule 1), so no bit depends on
// the split.

#include <cstddef>
#include <optional>
#include <span>

#include "base/thread_team.h"
#include "kernels/weight_format.h"
#include "model/lora_adapter.h"

namespace daybreak::model {

// y[t * y_stride + r] = dot(w[r], x + t * x_stride) for every row r and t < tokens.
struct LinearJob {
  kernels::MatrixView w;
  const float* x = nullptr;
  std::size_t x_stride = 0;  // floats
  float* y = nullptr;
  std::size_t y_stride = 0;  // floats
  std::size_t tokens = 0;
  // Which module of the layer this is, if adapters may add to it (lora_step.h).
  std::optional<LoraModule> module = {};
  // If set, y = fma(*added, dot, y) instead of y = dot.
  std::optional<float> added = {};
};

// Rows [begin, end) of a job with `added`, on the calling thread.
void add_product(const LinearJob& job, std::size_t begin, std::size_t end);

// Runs all jobs and returns when they are done. REQUIRES: no job writes what another one reads or
// writes.
void run_linears(ThreadTeam& team, std::span<const LinearJob> jobs);

// Returns the view of rows [begin, end) of `w`.
[[nodiscard]] kernels::MatrixView row_slice(const kernels::MatrixView& w, std::size_t begin,
                                            std::size_t end);

}  // namespace daybreak::model
