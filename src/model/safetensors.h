// SPDX-License-Identifier: Apache-2.0
#pragma once

// The header of one safetensors file: which tensors it holds, and where.
//
//   +----------------+------------------------------+--------------------------------+
//   | u64 LE: H      | H bytes of JSON, from '{'    | data section                   |
//   +----------------+------------------------------+--------------------------------+
//   0                8                              8 + H                   end of file
//
// The JSON maps a name to {"dtype", "shape", "data_offsets": [begin, end]}, offsets counted from
// the start of the data section; "__metadata__" maps strings to strings.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/dtype.h"

namespace daybreak::model {

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;  // the format's own limit
inline constexpr std::size_t kMaxTensorRank = 8;
inline constexpr std::size_t kMaxTensorName = 1024;

struct TensorEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // bytes from the start of the file
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  // ascending begin
  std::uint64_t data_begin = 0;      // bytes from the start of the file
};

// Reads the header of a whole mapped file. Every range returned lies inside the file, holds exactly
// the bytes its dtype and shape need, and overlaps no other. Holes between tensors are allowed
// here; find_hole() reports them. `name` stands for the file in messages. Errors: kCorrupt
// truncated, not JSON, a name twice, an unknown dtype, a bad shape or range
//         kTooLarge  a header longer than kMaxSafetensorsHeader, a rank or a name beyond its bound
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                                 std::string_view name);

// Returns ok if the tensors fill the data section of a file of `file_bytes` without holes, as the
// format demands.
// Errors: kCorrupt  naming the bytes that belong to no tensor.
[[nodiscard]] Status find_hole(const SafetensorsHeader& header, std::uint64_t file_bytes,
                               std::string_view name);

}  // namespace daybreak::model
