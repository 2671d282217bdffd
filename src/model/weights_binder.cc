// SPDX-License-Identifier: Apache-2.0
#include "model/weights_binder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/matmul.h"

namespace daybreak::model {
namespace {

using kernels::WeightFormat;

constexpr std::array kMatrixTypes = {DType::kBf16, DType::kF16, DType::kF32, DType::kF8E4M3};
constexpr std::array kBytes = {DType::kU8};

// REQUIRES: dtype is one of kMatrixTypes.
WeightFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return WeightFormat::kF32;
    case DType::kF16:
      return WeightFormat::kF16;
    case DType::kF8E4M3:
      return WeightFormat::kF8E4M3;
    default:
      return WeightFormat::kBf16;
  }
}

std::string where(const Checkpoint& checkpoint, std::string_view name) {
  return (checkpoint.directory() / checkpoint.file_of(name)).string() + ": tensor '" +
         std::string(name) + "'";
}

bool is_matrix_type(DType dtype) {
  return std::ranges::find(kMatrixTypes, dtype) != kMatrixTypes.end();
}

}  // namespace

void WeightsBinder::problem(Error error) {
  ++problem_count_;
  if (problems_.size() < kMaxNamedProblems) {
    problems_.push_back(std::move(error));
  }
}

MatrixView WeightsBinder::matrix(std::string_view name, std::size_t rows, std::size_t cols) {
  const std::array<std::uint64_t, 2> shape = {rows, cols};
  auto tensor = checkpoint_.tensor(name, kMatrixTypes, shape);
  if (!tensor) {
    problem(std::move(tensor).error());
    return {};
  }
  return {.format = format_of(tensor->dtype),
          .data = tensor->bytes.data(),
          .scales = nullptr,
          .rows = rows,
          .cols = cols};
}

MatrixView WeightsBinder::quantised_matrix(const std::string& stem, std::size_t rows,
                                           std::size_t cols) {
  const std::string packed_name = stem + ".weight_packed";
  if (!checkpoint_.contains(packed_name)) {
    return matrix(stem + ".weight", rows, cols);
  }
  if (cols % 32 != 0) {
    problem({Errc::kCorrupt, where(checkpoint_, packed_name) + ": MXFP4 rows are groups of 32, " +
                                 "config.json makes them " + std::to_string(cols) + " wide"});
    return {};
  }
  const std::array<std::uint64_t, 2> packed_shape = {rows, cols / 2};
  const std::array<std::uint64_t, 2> scale_shape = {rows, cols / 32};
  auto packed = checkpoint_.tensor(packed_name, kBytes, packed_shape);
  auto scale = checkpoint_.tensor(stem + ".weight_scale", kBytes, scale_shape);
  if (!packed || !scale) {
    problem(packed ? std::move(scale).error() : std::move(packed).error());
    return {};
  }
  return {.format = WeightFormat::kMxfp4,
          .data = packed->bytes.data(),
          .scales = reinterpret_cast<const std::uint8_t*>(scale->bytes.data()),
          .rows = rows,
          .cols = cols};
}

std::vector<float> WeightsBinder::to_f32(const TensorView& tensor, std::size_t size) {
  std::vector<float> values(size);
  const MatrixView row{.format = format_of(tensor.dtype),
                       .data = tensor.bytes.data(),
                       .scales = nullptr,
                       .rows = 1,
                       .cols = size};
  kernels::dequantise_row(row, 0, values.data());
  return values;
}

std::vector<float> WeightsBinder::vector(std::string_view name, std::size_t size) {
  auto tensor = checkpoint_.tensor(name);
  if (!tensor) {
    problem(std::move(tensor).error());
    return {};
  }
  const bool fits = element_count(tensor->shape) == size &&
                    std::ranges::all_of(tensor->shape,
                                        [&](std::uint64_t dim) { return dim == 1 || dim == size; });
  if (!fits || !is_matrix_type(tensor->dtype)) {
    problem({Errc::kCorrupt, where(checkpoint_, name) + ": config.json asks for " +
                                 std::to_string(size) + " numbers (BF16, F16, F32 or F8_E4M3), " +
                                 "the file has " + describe(tensor->dtype, tensor->shape)});
    return {};
  }
  return to_f32(*tensor, size);
}

std::vector<float> WeightsBinder::padded_vector(std::string_view name, std::size_t size) {
  auto tensor = checkpoint_.tensor(name);
  if (!tensor) {
    problem(std::move(tensor).error());
    return {};
  }
  const std::uint64_t count = element_count(tensor->shape).value_or(0);
  if (count < size || !is_matrix_type(tensor->dtype)) {
    problem({Errc::kCorrupt, where(checkpoint_, name) + ": config.json asks for at least " +
                                 std::to_string(size) + " numbers, the file has " +
                                 describe(tensor->dtype, tensor->shape)});
    return {};
  }
  return to_f32(*tensor, size);
}

std::vector<float> WeightsBinder::conv(std::string_view name, std::size_t channels,
                                       std::size_t taps) {
  auto tensor = checkpoint_.tensor(name);
  if (!tensor) {
    problem(std::move(tensor).error());
    return {};
  }
  const std::vector<std::uint64_t> released = {channels, 1, taps};
  const std::vector<std::uint64_t> squeezed = {channels, taps};
  if ((tensor->shape != released && tensor->shape != squeezed) || !is_matrix_type(tensor->dtype)) {
    problem({Errc::kCorrupt, where(checkpoint_, name) + ": config.json asks for " +
                                 describe(DType::kF32, released) + " (or BF16, F16, F8_E4M3), " +
                                 "the file has " + describe(tensor->dtype, tensor->shape)});
    return {};
  }
  return to_f32(*tensor, channels * taps);
}

Status WeightsBinder::status() const {
  if (problem_count_ == 0) {
    return ok();
  }
  std::string message;
  for (const Error& error : problems_) {
    message += (message.empty() ? "" : "; ") + error.message;
  }
  if (problem_count_ > problems_.size()) {
    message += "; and " + std::to_string(problem_count_ - problems_.size()) + " more problems";
  }
  return Error{problems_.front().code, message};
}

}  // namespace daybreak::model
