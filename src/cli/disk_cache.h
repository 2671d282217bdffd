// SPDX-License-Identifier: Apache-2.0
#pragma once

// The settings of the prefix cache's second tier.

#include <filesystem>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "cli/runner_options.h"
#include "cli/server_config.h"
#include "engine/disk_tier.h"

namespace daybreak::cli {

// Returns a text that differs between models, and after any change of one: the SHA-256 of name,
// size and time of change of every file in its directory. Nobody reads 1.5 TB at each start; a copy
// of a model is another one here, which costs time and never a wrong bit. Errors: kIo.
[[nodiscard]] Result<std::string> model_digest(const std::filesystem::path& directory);

// Returns what the engine is to be told; nothing: no directory is set. `log` outlives the engine.
// Errors: as model_digest.
[[nodiscard]] Result<std::optional<engine::DiskOptions>> disk_options(const ServerConfig& config,
                                                                      const LoadedModel& loaded,
                                                                      Log& log);

}  // namespace daybreak::cli
