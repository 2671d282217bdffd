// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of sub-commands. Each register_NAME is defined in src/cli/NAME_command.cc: it declares
// the options on `root` and, when its command is chosen, sets `action`.

#include "cli/command.h"

namespace daybreak::cli {

void register_tokenize(CLI::App& root, Action& action);
void register_detokenize(CLI::App& root, Action& action);
void register_render(CLI::App& root, Action& action);
void register_parse(CLI::App& root, Action& action);
void register_help(CLI::App& root, Action& action);

}  // namespace daybreak::cli
