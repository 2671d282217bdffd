// SPDX-License-Identifier: Apache-2.0
#include "model/layer_linear.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "kernels/matmul.h"

namespace daybreak::model {
namespace {

kernels::MatrixView view(const std::vector<float>& values, std::size_t rows, std::size_t cols) {
  return {.format = kernels::WeightFormat::kF32,
          .data = reinterpret_cast<const std::byte*>(values.data()),
          .scales = nullptr,
          .rows = rows,
          .cols = cols};
}

// Row counts around the block of 16, so that some threads get nothing and some a part of a job.
TEST(RunLinears, EveryRowOfEveryJobIsComputedOnceForAnyNumberOfThreads) {
  std::mt19937 rng(3);
  std::normal_distribution<float> normal;
  const std::vector<std::size_t> rows = {1, 15, 16, 17, 5, 100, 33};
  constexpr std::size_t kCols = 9;
  constexpr std::size_t kTokens = 3;
  std::vector<float> x(kTokens * kCols);
  for (float& value : x) {
    value = normal(rng);
  }
  std::vector<std::vector<float>> weights;
  for (const std::size_t r : rows) {
    weights.emplace_back(r * kCols);
    for (float& value : weights.back()) {
      value = normal(rng);
    }
  }
  for (std::size_t threads = 1; threads <= 6; ++threads) {
    ThreadTeam team(threads);
    std::vector<std::vector<float>> y;
    std::vector<LinearJob> jobs;
    for (const std::size_t r : rows) {
      y.emplace_back(kTokens * r, std::numeric_limits<float>::quiet_NaN());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      jobs.push_back({view(weights[i], rows[i], kCols), x.data(), kCols, y[i].data(), rows[i],
                      1 + i % kTokens});
    }
    run_linears(team, jobs);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t t = 0; t < jobs[i].tokens; ++t) {
        for (std::size_t r = 0; r < rows[i]; ++r) {
          ASSERT_EQ(y[i][t * rows[i] + r],
                    kernels::dot(weights[i].data() + r * kCols, x.data() + t * kCols, kCols))
              << threads << " threads, job " << i << ", row " << r << ", token " << t;
        }
      }
    }
  }
}

TEST(RunLinears, NoJobsAreNoWork) {
  ThreadTeam team(3);
  run_linears(team, {});
}

TEST(RowSlice, KeepsRowsAndTheirScalesTogether) {
  const std::vector<std::byte> data(10 * 32);
  const std::vector<std::uint8_t> scales(10 * 2);
  const kernels::MatrixView w{.format = kernels::WeightFormat::kMxfp4,
                              .data = data.data(),
                              .scales = scales.data(),
                              .rows = 10,
                              .cols = 64};
  const kernels::MatrixView slice = row_slice(w, 3, 7);
  EXPECT_EQ(slice.rows, 4u);
  EXPECT_EQ(slice.data, data.data() + 3 * 32);
  EXPECT_EQ(slice.scales, scales.data() + 3 * 2);
}

}  // namespace
}  // namespace daybreak::model
