// SPDX-License-Identifier: Apache-2.0
#pragma once

// Times the kernels that carry a forward pass, on the active table, with sizes of the released
// model.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/thread_team.h"

namespace daybreak::cli {

struct KernelTiming {
  std::string kernel;  // "matmul", "kda_step", "mla_tile"
  std::string format;  // of the weights, "f32" where there are none
  std::size_t tokens = 0;
  std::size_t threads = 0;
  double gb_s = 0;    // bytes of weights, state or latents per second, in 10^9
  double gmac_s = 0;  // multiply-adds per second, in 10^9
};

// Takes some seconds and 512 MiB. Best of several runs each. `progress` hears the name of each case
// before it runs.
[[nodiscard]] std::vector<KernelTiming> time_kernels(
    ThreadTeam& team, const std::function<void(const std::string&)>& progress);

}  // namespace daybreak::cli
