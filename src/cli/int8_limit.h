// SPDX-License-Identifier: Apache-2.0
#pragma once

// The integer counterpart of machine_limits.h: what 8-bit dot products could reach at best.

#include "base/thread_team.h"

namespace daybreak::cli {

// Returns 10^9 8-bit multiply-adds per second on the threads of a team, in registers: unsigned
// times signed bytes into 16-bit sums with the instructions every AVX2 CPU has, portable code
// without AVX2. Best of several runs of some 10 ms.
[[nodiscard]] double measure_int8_gmac_s(ThreadTeam& team);

}  // namespace daybreak::cli
