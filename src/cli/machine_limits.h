// SPDX-License-Identifier: Apache-2.0
#pragma once

// What this machine can do at best with a number of threads, measured: reading memory and fused
// multiply-adds in registers. Benches print their figures beside these.

#include "base/thread_team.h"

namespace daybreak::cli {

struct MachineLimits {
  double read_gb_s = 0;   // reading 1 GiB that no cache holds, in 10^9 bytes per second
  double fma_gmac_s = 0;  // f32 multiply-adds of the active kernel table's vector width
};

// Takes about a second and 1 GiB. Best of several runs, since anything else on the machine can only
// slow a run down.
[[nodiscard]] MachineLimits measure_machine_limits(ThreadTeam& team);

}  // namespace daybreak::cli
