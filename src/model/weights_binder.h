// SPDX-License-Identifier: Apache-2.0
#pragma once

// WeightsBinder: finds tensors of a checkpoint by name and turns them into what the layers compute
// with. A checkpoint that lacks one tensor often lacks hundreds, so problems are collected and
// reported together, once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/checkpoint.h"
#include "model/weights.h"

namespace daybreak::model {

// Problems named in full; the rest are counted.
inline constexpr std::size_t kMaxNamedProblems = 8;

// Every method returns an empty value after recording a problem. The checkpoint must outlive what
// is bound. Not thread-safe.
class WeightsBinder {
 public:
  explicit WeightsBinder(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  [[nodiscard]] bool contains(std::string_view name) const { return checkpoint_.contains(name); }

  // Returns a view of tensor `name` [rows, cols] in BF16, F16, F32 or F8_E4M3.
  MatrixView matrix(std::string_view name, std::size_t rows, std::size_t cols);
  // Returns `stem`.weight_packed with `stem`.weight_scale as MXFP4 if the former exists, else
  // `stem`.weight as matrix().
  MatrixView quantised_matrix(const std::string& stem, std::size_t rows, std::size_t cols);
  // Returns the `size` values of tensor `name` as f32. Its shape may be [size], or `size` with
  // dimensions of 1 around it, such as [1, size] or [size, 1].
  std::vector<float> vector(std::string_view name, std::size_t size);
  // The same for a tensor that may be padded at its end (A_log): at least `size` values, the first
  // `size` count.
  std::vector<float> padded_vector(std::string_view name, std::size_t size);
  // Returns convolution weights [channels, taps] from [channels, 1, taps] or [channels, taps].
  std::vector<float> conv(std::string_view name, std::size_t channels, std::size_t taps);

  // Returns ok, or one error for all recorded problems with the first error's code.
  [[nodiscard]] Status status() const;

 private:
  void problem(Error error);
  std::vector<float> to_f32(const TensorView& tensor, std::size_t size);

  const Checkpoint& checkpoint_;
  std::vector<Error> problems_;  // at most kMaxNamedProblems
  std::size_t problem_count_ = 0;
};

}  // namespace daybreak::model
