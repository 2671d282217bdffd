// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one table of kernels per instruction set. Nothing else in the program knows about instruction
// sets; callers use the functions of matmul.h, elementwise.h, norm.h, attention.h and kda.h, which
// call through active(). Every table computes the same bits (docs/numerics.md), except that the
// payload of a NaN is not defined.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "kernels/attention.h"
#include "kernels/kda.h"
#include "kernels/weight_format.h"

namespace daybreak::kernels {

// One complete set of kernels; no field is ever null. The contract of each field is the comment of
// the free function of the same name.
struct KernelTable {
  std::string_view isa;  // "scalar", "avx2", "avx512": what use() takes

  // matmul.h
  void (*matmul)(const MatrixView& w, std::size_t row_begin, std::size_t row_end, const float* x,
                 std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride);
  void (*dequantise_row)(const MatrixView& w, std::size_t row, float* out);
  float (*dot)(const float* a, const float* b, std::size_t n);
  void (*weighted_sum_rows)(const float* p, std::size_t n, const float* rows, std::size_t stride,
                            float* acc, std::size_t width);

  // elementwise.h
  void (*exp_inplace)(float* x, std::size_t n);
  void (*sigmoid_inplace)(float* x, std::size_t n);
  void (*tanh_inplace)(float* x, std::size_t n);
  void (*log_inplace)(float* x, std::size_t n);
  void (*softplus_inplace)(float* x, std::size_t n);
  void (*silu_inplace)(float* x, std::size_t n);
  void (*add_inplace)(float* y, const float* x, std::size_t n);
  void (*scale_inplace)(float* y, float factor, std::size_t n);
  void (*scaled_add)(float* y, float factor, const float* x, std::size_t n);
  void (*sigmoid_mul)(float* y, const float* gate, std::size_t n);
  void (*silu_mul)(const float* gate, const float* up, float* out, std::size_t n);
  void (*situ_mul)(const float* gate, const float* up, float beta, const float* linear_beta,
                   float* out, std::size_t n);

  // norm.h
  void (*rms_norm)(const float* x, const float* weight, float eps, std::size_t n, float* y);
  void (*l2_normalize)(const float* x, std::size_t n, float eps, float scale, float* y);
  float (*max_of)(const float* x, std::size_t n);
  float (*sum_exp)(const float* x, std::size_t n, float max);
  void (*softmax_inplace)(float* x, std::size_t n);

  // attention.h
  void (*attn_res_mix)(const float* const* sources, std::size_t n_sources,
                       const float* folded_weight, float eps, std::size_t width, float* out);
  void (*mla_tile)(const MlaTileQueries& queries, const MlaTileRows& rows, MlaAccumulator* acc);
  void (*mla_merge)(const MlaAccumulator& into, const MlaAccumulator& from, std::size_t rank);

  // kda.h
  void (*conv_silu)(const float* const* taps, std::size_t taps_count, const float* w,
                    std::size_t channel_begin, std::size_t channel_end, float* out);
  void (*kda_gate)(const float* z, float a_log, const float* dt_bias, const float* lower_bound,
                   std::size_t n, float* decay);
  void (*kda_step)(float* state, const KdaInputs& in, std::size_t dk, std::size_t dv, float* out,
                   float* written);
  void (*kda_write)(float* state, const float* k, const float* decay, const float* w,
                    std::size_t dk, std::size_t dv);
};

// Every table this CPU can run, slowest first; element 0 is always "scalar".
std::span<const KernelTable* const> available();

// The table to call through: the last of available() unless use() chose another.
const KernelTable& active();

// Makes the named table active, for the whole process. Thread-safe; a kernel already running
// finishes on the old table.
// Errors: kInvalidArgument, listing the names this CPU has.
Status use(std::string_view isa);

}  // namespace daybreak::kernels
