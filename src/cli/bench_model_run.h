// SPDX-License-Identifier: Apache-2.0
#pragma once

// The measured part of `daybreak bench decode|prefill`.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "model/model.h"

namespace daybreak::cli {

inline constexpr std::size_t kMaxBenchTokens = std::size_t{1} << 20;
inline constexpr std::size_t kMaxBenchBatch = 1024;
inline constexpr std::size_t kMaxBenchRepeat = 1000;

enum class BenchMode : std::uint8_t { kDecode, kPrefill };

struct BenchShape {
  std::size_t threads = 1;
  std::size_t tokens = 32;  // per sequence and repeat
  std::size_t depth = 0;    // tokens in each state before measuring
  std::size_t batch = 1;
  std::size_t repeat = 3;
};

struct BenchResult {
  std::vector<double> tok_s;          // one per repeat, ascending; tokens of all sequences together
  std::uint64_t bytes_per_token = 0;  // weight bytes that had to be read, per token
  std::uint64_t macs_per_token = 0;   // multiply-adds of the matrix products, per token

  [[nodiscard]] double median_tok_s() const { return tok_s[tok_s.size() / 2]; }
};

// Prefills `depth` tokens, then times `repeat` runs that all start from that state.
// Errors: kTooLarge  depth + tokens exceeds the model's positions.
[[nodiscard]] Result<BenchResult> run_model_bench(const model::Model& model, BenchMode mode,
                                                  const BenchShape& shape, ThreadTeam& team);

}  // namespace daybreak::cli
