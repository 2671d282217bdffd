// SPDX-License-Identifier: Apache-2.0
#pragma once

// TraceSampler: which traces are exported. Everybody along a trace who decides by its id and the
// same ratio decides the same.

#include <optional>
#include <string_view>

#include "base/result.h"
#include "telemetry/span.h"

namespace daybreak::telemetry {

struct TraceSampler {
  double ratio = 1.0;        // of traces that begin here, 0 to 1
  bool parent_based = true;  // one that began elsewhere is exported if its caller exports it

  // Returns whether to export. `parent_sampled`: the caller's decision; unset: there is no caller.
  [[nodiscard]] bool samples(const TraceId& id, std::optional<bool> parent_sampled) const;
};

// Reads the values of OTEL_TRACES_SAMPLER ("" is parentbased_always_on) and OTEL_TRACES_SAMPLER_ARG
// ("" is 1). Errors: kInvalidArgument with what is known.
[[nodiscard]] Result<TraceSampler> parse_sampler(std::string_view name, std::string_view argument);

}  // namespace daybreak::telemetry
