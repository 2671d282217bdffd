// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementary.h"

#include "kernels/lanes_scalar.h"
// The templates below need a lane type first.
#include "kernels/elementary_inl.h"

namespace daybreak::kernels {

float exp(float x) { return exp_lanes(ScalarLane{x}).v; }
float sigmoid(float x) { return sigmoid_lanes(ScalarLane{x}).v; }
float tanh(float x) { return tanh_lanes(ScalarLane{x}).v; }
float log(float x) { return log_lanes(ScalarLane{x}).v; }
float log1p(float x) { return log1p_lanes(ScalarLane{x}).v; }
float softplus(float x) { return softplus_lanes(ScalarLane{x}).v; }
float silu(float x) { return silu_lanes(ScalarLane{x}).v; }

}  // namespace daybreak::kernels
