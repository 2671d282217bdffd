// SPDX-License-Identifier: Apache-2.0
#pragma once

// Elementary functions with a fixed operation order, so that their bits do not depend on the libm
// or the CPU. Scalar forms; elementwise.h has the array forms, which give the same bits. The stated
// errors are upper bounds seen in dense sweeps against double libm (elementary_test.cc).
//
// NaN gives NaN everywhere. Subnormal arguments and results are honoured.

namespace daybreak::kernels {

float exp(float x);       // 1 ulp; > 88.72 is +inf, < -103.98 is +0
float sigmoid(float x);   // 1 / (1 + exp(-x)), 2.5 ulp
float tanh(float x);      // 2 ulp; odd, +-1 from |x| > 9.02
float log(float x);       // 1 ulp; 0 is -inf, negative is NaN
float log1p(float x);     // log(1 + x), 2 ulp; -1 is -inf, below is NaN
float softplus(float x);  // log(1 + exp(x)), 2 ulp, no overflow
// x * sigmoid(x): 3 ulp; below -87, where sigmoid is subnormal, 2e-43 absolute; -inf gives NaN.
float silu(float x);

}  // namespace daybreak::kernels
