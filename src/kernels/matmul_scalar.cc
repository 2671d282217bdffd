// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul_scalar.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "kernels/matmul.h"

namespace daybreak::kernels {
namespace {

struct Lanes {
  float v[kDotLanes] = {};

  [[nodiscard]] float sum() const {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
  }
};

float chunk_dot(const float* a, const float* b, std::size_t n) {
  Lanes lanes;
  for (std::size_t k = 0; k < n; ++k) {
    float& lane = lanes.v[k % kDotLanes];
    lane = std::fma(a[k], b[k], lane);
  }
  return lanes.sum();
}

// `w` is unscaled E2M1; one scale byte per 32 elements.
float chunk_dot_mxfp4(const float* w, const std::uint8_t* scales, const float* x, std::size_t n) {
  Lanes lanes;
  for (std::size_t group = 0; group < n / kMxGroup; ++group) {
    Lanes sums;
    for (std::size_t k = group * kMxGroup; k < (group + 1) * kMxGroup; ++k) {
      float& sum = sums.v[k % kDotLanes];
      sum = std::fma(w[k], x[k], sum);
    }
    const float scale = e8m0_to_f32(scales[group]);
    for (std::size_t j = 0; j < kDotLanes; ++j) {
      lanes.v[j] = std::fma(sums.v[j], scale, lanes.v[j]);
    }
  }
  return lanes.sum();
}

template <class T>
T read(const std::byte* data, std::size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

float dot_scalar(const float* a, const float* b, std::size_t n) {
  float total = 0.0f;
  for (std::size_t begin = 0; begin < n; begin += kDotChunk) {
    total += chunk_dot(a + begin, b + begin, std::min(kDotChunk, n - begin));
  }
  return total;
}

void decode_row_scalar(const MatrixView& w, std::size_t row, std::size_t begin, std::size_t end,
                       float* out) {
  const std::byte* data = w.data + row * bytes_per_row(w.format, w.cols);
  for (std::size_t k = begin; k < end; ++k) {
    float value = 0.0f;
    switch (w.format) {
      case WeightFormat::kF32:
        value = read<float>(data, k);
        break;
      case WeightFormat::kF16:
        value = f16_to_f32(read<std::uint16_t>(data, k));
        break;
      case WeightFormat::kBf16:
        value = bf16_to_f32(read<std::uint16_t>(data, k));
        break;
      case WeightFormat::kF8E4M3:
        value = kF8E4M3[read<std::uint8_t>(data, k)];
        break;
      case WeightFormat::kMxfp4: {
        const unsigned pair = read<std::uint8_t>(data, k / 2);
        value = kE2M1[k % 2 == 0 ? pair & 0xfu : pair >> 4];
        break;
      }
    }
    out[k - begin] = value;
  }
}

float chunk_dot_scalar(const MatrixView& w, std::size_t row, std::size_t begin, std::size_t end,
                       const float* x) {
  assert(begin % kDotChunk == 0 && end - begin <= kDotChunk);
  float decoded[kDotChunk];
  decode_row_scalar(w, row, begin, end, decoded);
  if (w.format == WeightFormat::kMxfp4) {
    const std::uint8_t* scales = w.scales + (row * w.cols + begin) / kMxGroup;
    return chunk_dot_mxfp4(decoded, scales, x + begin, end - begin);
  }
  return chunk_dot(decoded, x + begin, end - begin);
}

void matmul_scalar(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                   std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
  assert(row_begin <= row_end && row_end <= w.rows);
  assert(w.format != WeightFormat::kMxfp4 || w.cols % kMxGroup == 0);
  for (std::size_t row = row_begin; row < row_end; ++row) {
    for (std::size_t t = 0; t < tokens; ++t) {
      float total = 0.0f;
      for (std::size_t begin = 0; begin < w.cols; begin += kDotChunk) {
        const std::size_t end = std::min(w.cols, begin + kDotChunk);
        total += chunk_dot_scalar(w, row, begin, end, x + t * x_stride);
      }
      y[t * y_stride + row] = total;
    }
  }
}

void dequantise_row_scalar(const MatrixView& w, std::size_t row, float* out) {
  assert(row < w.rows);
  decode_row_scalar(w, row, 0, w.cols, out);
  if (w.format == WeightFormat::kMxfp4) {
    const std::uint8_t* scales = w.scales + row * (w.cols / kMxGroup);
    for (std::size_t k = 0; k < w.cols; ++k) {
      out[k] *= e8m0_to_f32(scales[k / kMxGroup]);
    }
  }
}

void weighted_sum_rows_scalar(const float* p, std::size_t n, const float* rows, std::size_t stride,
                              float* acc, std::size_t width) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      acc[c] = std::fma(p[i], rows[i * stride + c], acc[c]);
    }
  }
}

}  // namespace daybreak::kernels
