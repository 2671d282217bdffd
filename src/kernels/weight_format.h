// SPDX-License-Identifier: Apache-2.0
#pragma once

// How weights are stored, and the exact conversion of each format to f32. Every conversion here is
// lossless: f32 holds every finite value of the narrower formats.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace daybreak::kernels {

enum class WeightFormat : std::uint8_t { kF32, kF16, kBf16, kF8E4M3, kMxfp4 };

// 32 MXFP4 elements share one scale (OCP Microscaling Formats v1.0).
inline constexpr std::size_t kMxGroup = 32;

// A matrix as stored in a checkpoint: row-major, rows contiguous, any alignment. Borrowed memory.
struct MatrixView {
  WeightFormat format = WeightFormat::kF32;
  const std::byte* data = nullptr;
  // kMxfp4 only: [rows, cols / 32] E8M0 bytes, the scale is 2^(e - 127).
  const std::uint8_t* scales = nullptr;
  std::size_t rows = 0;
  // kMxfp4: a multiple of 32.
  std::size_t cols = 0;
};

// Returns the bytes of one row, without its scales. REQUIRES: kMxfp4 => cols even.
constexpr std::size_t bytes_per_row(WeightFormat format, std::size_t cols) {
  switch (format) {
    case WeightFormat::kF32:
      return cols * 4;
    case WeightFormat::kF16:
    case WeightFormat::kBf16:
      return cols * 2;
    case WeightFormat::kF8E4M3:
      return cols;
    case WeightFormat::kMxfp4:
      return cols / 2;
  }
  return 0;
}

constexpr float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Returns the nearest bf16, ties to even; a NaN stays a (quiet) NaN.
constexpr std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fff'ffffu) > 0x7f80'0000u) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// IEEE binary16. Subnormals (exponent 0) are m * 2^-24.
constexpr float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (exponent == 31) {
    const std::uint32_t quiet = mantissa == 0 ? 0u : 0x0040'0000u;
    return std::bit_cast<float>(sign | 0x7f80'0000u | quiet | (mantissa << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// OCP FP8 E4M3: bias 7, no infinities, 0x7f and 0xff are NaN. Subnormals are m * 2^-9.
constexpr float f8_e4m3_to_f32(std::uint8_t bits) {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x80u) << 24;
  const std::uint32_t exponent = (bits >> 3) & 0xfu;
  const std::uint32_t mantissa = bits & 0x7u;
  if ((bits & 0x7fu) == 0x7fu) {
    return std::bit_cast<float>(sign | 0x7fc0'0000u);
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-9f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 120) << 23) | (mantissa << 20));
}

// Returns 2^(e - 127). e == 0 is 2^-127, which f32 holds only as a subnormal, so moving e into the
// exponent field would wrongly give 0 there; e == 255 is NaN.
constexpr float e8m0_to_f32(std::uint8_t e) {
  if (e == 0xff) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return std::bit_cast<float>(e == 0 ? 0x0040'0000u : std::uint32_t{e} << 23);
}

// FP4 E2M1 in code order. In a checkpoint, byte i of a row holds element 2i in its low nibble and
// 2i + 1 in its high one (released K3 weights, held by a test on 64 of their rows).
inline constexpr std::array<float, 16> kE2M1 = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,
                                                4.0f,  6.0f,  -0.0f, -0.5f, -1.0f, -1.5f,
                                                -2.0f, -3.0f, -4.0f, -6.0f};

namespace detail {
constexpr std::array<float, 256> make_f8_e4m3_table() {
  std::array<float, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = f8_e4m3_to_f32(static_cast<std::uint8_t>(i));
  }
  return table;
}
}  // namespace detail

inline constexpr std::array<float, 256> kF8E4M3 = detail::make_f8_e4m3_table();

}  // namespace daybreak::kernels
