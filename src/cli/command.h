// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every sub-command shares. Each src/cli/NAME_command.cc defines one register_NAME function,
// listed in commands.cc: it declares the options and, when chosen, sets `action`.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>

#include "base/result.h"

namespace daybreak::cli {

// Runs the chosen sub-command. An error is printed by main as "error: MESSAGE" on stderr and gives
// the process its exit code.
using Action = std::function<Status()>;

// Declares every sub-command on `root`. Both arguments must outlive parsing.
void register_commands(CLI::App& root, Action& action);

}  // namespace daybreak::cli
