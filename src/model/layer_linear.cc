// SPDX-License-Identifier: Apache-2.0
#include "model/layer_linear.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"

namespace daybreak::model {
namespace {

// Rows go to threads in blocks of one cache line of outputs.
constexpr std::size_t kRowBlock = 16;

// Reading a weight costs about as much as multiplying it with this many tokens; only the balance
// between threads depends on it.
constexpr std::uint64_t kReadCost = 4;

std::uint64_t blocks_of(const LinearJob& job) { return (job.w.rows + kRowBlock - 1) / kRowBlock; }

std::uint64_t block_cost(const LinearJob& job) {
  return std::uint64_t{job.w.cols} * (std::uint64_t{job.tokens} + kReadCost);
}

// Returns the first block of a job starting at cost `start` that begins at or after cost `at`.
std::uint64_t first_block(std::uint64_t at, std::uint64_t start, std::uint64_t cost,
                          std::uint64_t blocks) {
  if (at <= start) {
    return 0;
  }
  return std::min(blocks, (at - start + cost - 1) / cost);
}

void run_rows(const LinearJob& job, std::size_t begin, std::size_t end) {
  if (job.added) {
    return add_product(job, begin, end);
  }
  kernels::matmul(job.w, begin, end, job.x, job.x_stride, job.tokens, job.y, job.y_stride);
}

}  // namespace

void add_product(const LinearJob& job, std::size_t begin, std::size_t end) {
  constexpr std::size_t kRows = 128;
  constexpr std::size_t kTokens = 8;
  std::array<float, kRows * kTokens> sums;
  for (std::size_t row = begin; row < end; row += kRows) {
    const std::size_t rows = std::min(kRows, end - row);
    const kernels::MatrixView w = row_slice(job.w, row, row + rows);
    for (std::size_t t = 0; t < job.tokens; t += kTokens) {
      const std::size_t tokens = std::min(kTokens, job.tokens - t);
      kernels::matmul(w, 0, rows, job.x + t * job.x_stride, job.x_stride, tokens, sums.data(),
                      kRows);
      for (std::size_t i = 0; i < tokens; ++i) {
        kernels::scaled_add(job.y + (t + i) * job.y_stride + row, *job.added,
                            sums.data() + i * kRows, rows);
      }
    }
  }
}

void run_linears(ThreadTeam& team, std::span<const LinearJob> jobs) {
  if (team.size() == 1) {
    for (const LinearJob& job : jobs) {
      run_rows(job, 0, job.w.rows);
    }
    return;
  }
  std::uint64_t total = 0;
  for (const LinearJob& job : jobs) {
    total += blocks_of(job) * block_cost(job);
  }
  team.run([&](std::size_t worker, std::size_t workers) {
    const std::uint64_t low = total * worker / workers;
    const std::uint64_t high = total * (worker + 1) / workers;
    std::uint64_t start = 0;
    for (const LinearJob& job : jobs) {
      const std::uint64_t blocks = blocks_of(job);
      const std::uint64_t cost = block_cost(job);
      const std::uint64_t begin = first_block(low, start, cost, blocks);
      const std::uint64_t end = first_block(high, start, cost, blocks);
      start += blocks * cost;
      if (begin < end) {
        run_rows(job, begin * kRowBlock, std::min(job.w.rows, end * kRowBlock));
      }
    }
  });
}

kernels::MatrixView row_slice(const kernels::MatrixView& w, std::size_t begin, std::size_t end) {
  kernels::MatrixView slice = w;
  slice.rows = end - begin;
  slice.data = w.data + begin * kernels::bytes_per_row(w.format, w.cols);
  if (w.scales != nullptr) {
    slice.scales = w.scales + begin * (w.cols / kernels::kMxGroup);
  }
  return slice;
}

}  // namespace daybreak::model
