// SPDX-License-Identifier: Apache-2.0
#pragma once

// The LoRA adapters of `daybreak serve`, from its configuration.

#include <cstdint>
#include <string>
#include <vector>

#include "api/lora_options.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/runner_options.h"
#include "cli/server_config.h"

namespace daybreak::cli {

// Returns what serves the adapters of lora_modules and, if the configuration lets it, those that
// are loaded later. `names`: of the model; `now`: seconds since 1970.
// Errors: kInvalidArgument naming the key, those of AdapterRegistry::load().
[[nodiscard]] Result<api::LoraOptions> open_adapters(const ServerConfig& config,
                                                     const LoadedModel& loaded,
                                                     const std::vector<std::string>& names,
                                                     std::int64_t now, Log& log);

}  // namespace daybreak::cli
