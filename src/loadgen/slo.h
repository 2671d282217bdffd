// SPDX-License-Identifier: Apache-2.0
#pragma once

// Service level objectives: what a request must keep to be counted in goodput, spelled as vLLM's
// `bench serve --goodput` spells them.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace daybreak::loadgen {

struct RequestTimes {
  double ttft_seconds = 0;  // time to first token
  double tpot_seconds = 0;  // time per output token after the first; 0 for an answer of one
  double e2el_seconds = 0;  // end-to-end latency
};

struct Slos {
  std::optional<double> ttft_ms, tpot_ms, e2el_ms;

  [[nodiscard]] bool any() const { return ttft_ms || tpot_ms || e2el_ms; }
  [[nodiscard]] bool kept_by(const RequestTimes& times) const;
};

// Reads "NAME:MILLISECONDS" of NAME ttft, tpot or e2el, each once.
// Errors: kInvalidArgument.
[[nodiscard]] Result<Slos> parse_slos(const std::vector<std::string>& texts);

}  // namespace daybreak::loadgen
