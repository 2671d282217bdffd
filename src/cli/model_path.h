// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the MODEL argument of a command points.

#include <filesystem>
#include <string>

#include "base/result.h"

namespace daybreak::cli {

// Returns the directory (or the file, for commands that take one) named by `model`; the bundled
// model for an empty name: models/nano of the source tree that holds the build folder of this
// executable, or share/daybreak/nano beside its bin folder.
// Errors: kNotFound naming what was looked for.
Result<std::filesystem::path> resolve_model(const std::string& model);

}  // namespace daybreak::cli
