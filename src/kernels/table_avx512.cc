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

#include "kernels/gemv_mxfp4_avx512_inl.h"
#include "kernels/isa_avx2_inl.h"

namespace daybreak::kernels {
namespace {

// AVX2 kernels compiled for twice the registers, and a decoder that needs the wide permutation.
struct Avx512Isa : Avx2Isa {
  static constexpr std::string_view kName = "avx512";

  static void matmul(const MatrixView& w, std::size_t row_begin, std::size_t row_end,
                     const float* x, std::size_t x_stride, std::size_t tokens, float* y,
                     std::size_t y_stride) {
    if (w.format == WeightFormat::kMxfp4 && tokens == 1) {
      assert(row_begin <= row_end && row_end <= w.rows && w.cols % kMxGroup == 0);
      gemv_mxfp4_avx512(w, row_begin, row_end, x, y);
    } else {
      matmul_avx2(w, row_begin, row_end, x, x_stride, tokens, y, y_stride);
    }
  }
};

}  // namespace

constinit const KernelTable kAvx512Table = make_table<Avx512Isa>();

}  // namespace daybreak::kernels

DAYBREAK_TARGET_END

#endif  // x86-64
