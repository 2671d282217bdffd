// SPDX-License-Identifier: Apache-2.0
#pragma once

// What structured output costs, under daybreak_grammar_*.

#include "base/metrics.h"
#include "grammar/grammar_service.h"
#include "grammar/string_masks.h"

namespace daybreak::api {

void report_grammars(MetricsSink& sink, const grammar::GrammarServiceStats& stats,
                     const grammar::StringMasks::Stats& masks);

}  // namespace daybreak::api
