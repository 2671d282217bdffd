// SPDX-License-Identifier: Apache-2.0
#pragma once

// The few elementary functions of sampling, in double precision, with a fixed order of IEEE
// operations and no library function: the same bits on every machine (numerics rules 3 and 8).
// Doubles, because sampling looks at the tails of distributions; scalar, because it looks at one
// row per token.

#include <span>

namespace daybreak::engine {

// Returns the natural logarithm of x, within 2 ulp. REQUIRES: x is normal and positive.
[[nodiscard]] double fixed_log(double x);

// Returns e^x within 2 ulp; exactly 0 below -708 (where the result would be subnormal), -inf
// included. REQUIRES: x <= 709, not NaN.
[[nodiscard]] double fixed_exp(double x);

// Returns log(sum of e^row[i]): blocks of 512 summed ascending, blocks added ascending.
// REQUIRES: no NaN, no +inf, some element finite.
[[nodiscard]] double log_sum_exp(std::span<const float> row);

}  // namespace daybreak::engine
