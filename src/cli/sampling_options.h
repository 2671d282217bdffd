// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command-line form of engine::SamplingParams.

#include "cli/command.h"
#include "engine/sampling_params.h"

namespace daybreak::cli {

// Declares --temperature, --top-p, --top-k, --min-p, --typical-p, --repetition-penalty,
// --presence-penalty, --frequency-penalty and --seed, with the values in `params` as defaults.
// Ranges are checked later, by engine::validate. `params` must outlive parsing.
void add_sampling_options(Command command, engine::SamplingParams& params);

}  // namespace daybreak::cli
