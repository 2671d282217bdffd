// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options that count: CLI11 turns "-1" into the largest unsigned number. One walk over all commands
// refuses it, so that no command can forget to.

#include "cli/command.h"

namespace daybreak::cli {

// Lets every unsigned option of `app`, its option groups and sub-commands refuse negative numbers,
// naming option and value. To be called once, after all options are declared.
void refuse_negative_counts(CLI::App& app);

}  // namespace daybreak::cli
