// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds a kernel table from an instruction set's traits. See elementary_inl.h for how the file is
// used. Isa has: V (lane type), kName, dot, scores<kHeads>, matmul, weighted_sum_rows,
// dequantise_row.

#include "kernels/attention_inl.h"
#include "kernels/dispatch.h"
#include "kernels/elementwise_inl.h"
#include "kernels/kda_inl.h"
#include "kernels/norm_inl.h"

namespace daybreak::kernels {
namespace {

template <class Isa>
constexpr KernelTable make_table() {
  using V = typename Isa::V;
  return {
      .isa = Isa::kName,
      .matmul = Isa::matmul,
      .dequantise_row = Isa::dequantise_row,
      .dot = Isa::dot,
      .weighted_sum_rows = Isa::weighted_sum_rows,
      .exp_inplace = exp_inplace_kernel<V>,
      .sigmoid_inplace = sigmoid_inplace_kernel<V>,
      .tanh_inplace = tanh_inplace_kernel<V>,
      .log_inplace = log_inplace_kernel<V>,
      .softplus_inplace = softplus_inplace_kernel<V>,
      .silu_inplace = silu_inplace_kernel<V>,
      .add_inplace = add_inplace_kernel<V>,
      .scale_inplace = scale_inplace_kernel<V>,
      .scaled_add = scaled_add_kernel<V>,
      .sigmoid_mul = sigmoid_mul_kernel<V>,
      .silu_mul = silu_mul_kernel<V>,
      .situ_mul = situ_mul_kernel<V>,
      .rms_norm = rms_norm_kernel<Isa>,
      .l2_normalize = l2_normalize_kernel<Isa>,
      .max_of = max_of_kernel<Isa>,
      .sum_exp = sum_exp_kernel<Isa>,
      .softmax_inplace = softmax_inplace_kernel<Isa>,
      .attn_res_mix = attn_res_mix_kernel<Isa>,
      .mla_tile = mla_tile_kernel<Isa>,
      .mla_merge = mla_merge_kernel<Isa>,
      .conv_silu = conv_silu_kernel<V>,
      .kda_gate = kda_gate_kernel<V>,
      .kda_step = kda_step_kernel<V>,
      .kda_write = kda_write_kernel<V>,
  };
}

}  // namespace
}  // namespace daybreak::kernels
