// SPDX-License-Identifier: Apache-2.0
// The only main: parses the command line, runs one sub-command, turns its error into an exit code.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_names.h"

namespace {

int fail(const daybreak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return daybreak::exit_code(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App root{"Daybreak: a Day-0 serving stack for Kimi K3", "daybreak"};
  root.require_subcommand(1);
  root.set_version_flag("--version", DAYBREAK_VERSION);
  daybreak::cli::Action action;
  daybreak::cli::register_commands({root, action});
  // Before parsing: CLI11 would only say that a command is missing.
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (const auto command = daybreak::cli::find_command(root, words); !command) {
    return fail(command.error());
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return root.exit(e) == 0 ? 0 : 2;
  }
  if (const daybreak::Status status = action(); !status) {
    return fail(status.error());
  }
  return 0;
}
