// SPDX-License-Identifier: Apache-2.0
// The only main: parses the command line, runs one sub-command, turns its error into an exit code.

#include <cstdio>

#include "cli/command.h"

int main(int argc, char** argv) {
  CLI::App root{"Daybreak: a Day-0 serving stack for Kimi K3", "daybreak"};
  root.require_subcommand(1);
  root.set_version_flag("--version", DAYBREAK_VERSION);
  daybreak::cli::Action action;
  daybreak::cli::register_commands(root, action);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return root.exit(e) == 0 ? 0 : 2;
  }
  if (const daybreak::Status status = action(); !status) {
    std::fprintf(stderr, "error: %s\n", status.error().message.c_str());
    return daybreak::exit_code(status.error().code);
  }
  return 0;
}
