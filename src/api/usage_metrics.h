// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "access/ledger.h"
#include "base/metrics.h"

namespace daybreak::api {

// Reports how the usage ledger keeps up.
void report_ledger(MetricsSink& sink, const access::Ledger::Stats& stats);

}  // namespace daybreak::api
