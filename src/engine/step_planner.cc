// SPDX-License-Identifier: Apache-2.0
#include "engine/step_planner.h"

#include <algorithm>

namespace daybreak::engine {

std::vector<std::size_t> plan_step(std::span<const std::size_t> pending, std::size_t step_tokens) {
  std::vector<std::size_t> share(pending.size(), 0);
  std::vector<std::size_t> reading;
  std::size_t used = 0;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (pending[i] == 1) {
      share[i] = 1;
      ++used;
    } else {
      reading.push_back(i);
    }
  }
  // At least one: a prompt goes on however many others are generating.
  std::size_t left = step_tokens > used ? step_tokens - used : 1;
  // Shortest first: what a short prompt leaves of its even share goes to the longer ones. Among
  // equals the newest first, so that the oldest gets the remainder of the division.
  std::sort(reading.begin(), reading.end(), [&](std::size_t a, std::size_t b) {
    return pending[a] != pending[b] ? pending[a] < pending[b] : a > b;
  });
  for (std::size_t n = 0; n < reading.size(); ++n) {
    const std::size_t i = reading[n];
    share[i] = std::min(pending[i], left / (reading.size() - n));
    left -= share[i];
  }
  return share;
}

}  // namespace daybreak::engine
