// SPDX-License-Identifier: Apache-2.0
#include "kernels/lanes_scalar.h"
#include "kernels/matmul_scalar.h"
#include "kernels/table_inl.h"
#include "kernels/tables.h"

namespace daybreak::kernels {
namespace {

struct ScalarIsa {
  using V = ScalarLane;
  static constexpr std::string_view kName = "scalar";
  static constexpr auto dot = dot_scalar;
  static constexpr auto matmul = matmul_scalar;
  static constexpr auto dequantise_row = dequantise_row_scalar;
  static constexpr auto weighted_sum_rows = weighted_sum_rows_scalar;

  // out[h][i] = dot(q_h, row_i)
  template <std::size_t kHeads>
  static void scores(const float* q, std::size_t q_stride, const MlaTileRows& rows,
                     float* const* out) {
    for (std::size_t h = 0; h < kHeads; ++h) {
      for (std::size_t i = 0; i < rows.valid; ++i) {
        out[h][i] = dot_scalar(q + h * q_stride, rows.rows + i * rows.stride, rows.width);
      }
    }
  }
};

}  // namespace

constinit const KernelTable kScalarTable = make_table<ScalarIsa>();

}  // namespace daybreak::kernels
