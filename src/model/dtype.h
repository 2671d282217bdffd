// SPDX-License-Identifier: Apache-2.0
#pragma once

// The element types a safetensors file can name. Every one of them can be listed, sized and
// counted; which of them a tensor of the model may have is said by the tensor catalog.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace daybreak::model {

enum class DType : std::uint8_t {
  kF64,
  kF32,
  kF16,
  kBf16,
  kF8E4M3,
  kF8E5M2,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
};
inline constexpr std::size_t kDTypeCount = 15;

// Returns the spelling used in a safetensors header, such as "F8_E4M3".
[[nodiscard]] std::string_view to_string(DType dtype);

// Returns the dtype spelt `name`, or nothing if the format does not define it.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);

// Returns bytes per element.
[[nodiscard]] std::size_t size_of(DType dtype);

// Returns the number of elements, or nothing if the product overflows 64 bits. An empty shape is a
// scalar: 1.
[[nodiscard]] std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> shape);

// Returns the bytes a tensor takes, or nothing if that overflows 64 bits.
[[nodiscard]] std::optional<std::uint64_t> byte_count(DType dtype,
                                                      std::span<const std::uint64_t> shape);

// Returns "BF16[896,2048]", the form used in every message about a tensor.
[[nodiscard]] std::string describe(DType dtype, std::span<const std::uint64_t> shape);

}  // namespace daybreak::model
