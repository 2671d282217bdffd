// SPDX-License-Identifier: Apache-2.0
#pragma once

// Commands by name: finding the one that words on a command line name, and its help.

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace daybreak::cli {

// A command and the words that call it, such as "daybreak bench decode".
struct NamedCommand {
  CLI::App* app = nullptr;
  std::string name;
};

// Follows `words` down from `root` until one begins with '-', is empty, or the command reached has
// no sub-commands (what follows are its arguments). `root` must outlive the result.
// Errors: kInvalidArgument naming the unknown word and, if one is near, the command meant.
Result<NamedCommand> find_command(CLI::App& root, std::span<const std::string> words);

// Returns `root` and every command below it, each before its own sub-commands, in the order of
// help.
std::vector<NamedCommand> all_commands(CLI::App& root);

// Returns the sub-commands of `app` in the order of its help, without its option groups.
std::vector<CLI::App*> named_subcommands(CLI::App& app);

// Returns the help of a command as if it was called by `name`, whatever else was parsed.
std::string command_help(const CLI::App& app, const std::string& name);

}  // namespace daybreak::cli
