// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine's statistics under the metric names existing dashboards know (vllm:*), and ours.

#include <cstddef>
#include <string>

#include "base/metrics.h"
#include "engine/stats.h"

namespace daybreak::api {

void report_engine(MetricsSink& sink, const engine::Stats& stats, const std::string& model_name);

// Which adapters requests run and wait with. `most`: that may be loaded.
void report_adapters(MetricsSink& sink, const engine::Stats& stats, std::size_t most);

}  // namespace daybreak::api
