// SPDX-License-Identifier: Apache-2.0
#include "model/dtype.h"

#include <algorithm>
#include <array>

namespace daybreak::model {
namespace {

struct DTypeRow {
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enum.
constexpr std::array<DTypeRow, kDTypeCount> kRows = {{{"F64", 8},
                                                      {"F32", 4},
                                                      {"F16", 2},
                                                      {"BF16", 2},
                                                      {"F8_E4M3", 1},
                                                      {"F8_E5M2", 1},
                                                      {"I64", 8},
                                                      {"I32", 4},
                                                      {"I16", 2},
                                                      {"I8", 1},
                                                      {"U64", 8},
                                                      {"U32", 4},
                                                      {"U16", 2},
                                                      {"U8", 1},
                                                      {"BOOL", 1}}};

}  // namespace

std::string_view to_string(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].name; }

std::optional<DType> parse_dtype(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &DTypeRow::name);
  if (row == kRows.end()) {
    return std::nullopt;
  }
  return static_cast<DType>(row - kRows.begin());
}

std::size_t size_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].bytes; }

std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::optional<std::uint64_t> byte_count(DType dtype, std::span<const std::uint64_t> shape) {
  const auto count = element_count(shape);
  std::uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, size_of(dtype), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::string describe(DType dtype, std::span<const std::uint64_t> shape) {
  std::string text(to_string(dtype));
  text += '[';
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  }
  return text + ']';
}

}  // namespace daybreak::model
