// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attn_res.h"
#include "kernels/kda.h"
#include "kernels/lanes_scalar.h"
#include "kernels/matmul.h"
#include "kernels/matmul_scalar.h"
#include "kernels/mla.h"
#include "kernels/tables.h"
#include "kernels/target_region.h"

DAYBREAK_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")

#include "kernels/gemm_avx512_inl.h"
#include "kernels/gemv_mxfp4_avx512_inl.h"
#include "kernels/isa_avx2_inl.h"

namespace daybreak::kernels {
namespace {

// AVX2 kernels compiled for twice the registers, and the matrix products that gain from the width.
struct Avx512Isa : Avx2Isa {
  static constexpr std::string_view kName = "avx512";

  static void matmul(const MatrixView& w, std::size_t row_begin, std::size_t row_end,
                     const float* x, std::size_t x_stride, std::size_t tokens, float* y,
                     std::size_t y_stride) {
    assert(row_begin <= row_end && row_end <= w.rows);
    assert(w.format != WeightFormat::kMxfp4 || w.cols % kMxGroup == 0);
    if (tokens != 1) {
      return gemm(w, row_begin, row_end, x, x_stride, tokens, y, y_stride);
    }
    if (w.format == WeightFormat::kMxfp4) {
      return gemv_mxfp4_avx512(w, row_begin, row_end, x, y);
    }
    matmul_avx2(w, row_begin, row_end, x, x_stride, tokens, y, y_stride);
  }

  static void gemm(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                   std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
    const auto run = [&]<WeightFormat kFormat>() {
      gemm_avx512<kFormat>(w, row_begin, row_end, x, x_stride, tokens, y, y_stride);
    };
    switch (w.format) {
      case WeightFormat::kF32:
        return run.operator()<WeightFormat::kF32>();
      case WeightFormat::kF16:
        return run.operator()<WeightFormat::kF16>();
      case WeightFormat::kBf16:
        return run.operator()<WeightFormat::kBf16>();
      case WeightFormat::kF8E4M3:
        return run.operator()<WeightFormat::kF8E4M3>();
      case WeightFormat::kMxfp4:
        return run.operator()<WeightFormat::kMxfp4>();
    }
  }
};

}  // namespace

constinit const KernelTable kAvx512Table = make_table<Avx512Isa>();

}  // namespace daybreak::kernels

DAYBREAK_TARGET_END

#endif  // x86-64
