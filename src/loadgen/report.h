// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a replay measured, as text for people and as JSON for scripts. The definitions are in
// docs/bench-serve.md.

#include <cstddef>
#include <string>

#include "loadgen/tally.h"
#include "loadgen/token_ratio.h"

namespace daybreak::loadgen {

struct Report {
  std::string workload;  // what was replayed, in words
  std::string endpoint;
  std::size_t requests = 0;  // of the workload
  TokenRatio ratio;
  Tally tally;

  [[nodiscard]] std::size_t unsent() const;                  // of an interrupted run
  [[nodiscard]] double per_second(std::size_t count) const;  // of the run; 0 for no time
};

[[nodiscard]] std::string report_json(const Report& report);
[[nodiscard]] std::string report_text(const Report& report);

}  // namespace daybreak::loadgen
