// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace daybreak::cli {

// One line per sub-command, each defined in NAME_command.cc.

void register_commands([[maybe_unused]] CLI::App& root, [[maybe_unused]] Action& action) {}

}  // namespace daybreak::cli
