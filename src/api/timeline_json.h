// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last steps of an engine in Chrome's trace-event format, which Perfetto opens.
// Source: "Trace Event Format", complete (X), counter (C) and metadata (M) events.

#include <span>
#include <string>

#include "engine/step_record.h"

namespace daybreak::api {

// Returns one JSON object. Track "engine" has the steps and, inside them, their phases; track
// "slot N" what the request in that slot fed: "prefill" or "decode", with the request's number in
// the engine. Times are microseconds since the first step; phases shorter than a microsecond are
// left out.
[[nodiscard]] std::string timeline_json(std::span<const engine::StepRecord> steps);

}  // namespace daybreak::api
