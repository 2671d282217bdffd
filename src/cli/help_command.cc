// SPDX-License-Identifier: Apache-2.0
// `daybreak help`: the reference of all commands, as text or as the markdown of docs/cli.md, and
// the table of request fields of docs/api.md.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "chat/field_table.h"
#include "cli/command.h"
#include "cli/command_names.h"
#include "cli/commands.h"

namespace daybreak::cli {
namespace {

std::string without_trailing_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      while (!out.empty() && out.back() == ' ') {
        out.pop_back();
      }
      if (out.ends_with("\n\n")) {
        continue;
      }
    }
    out += c;
  }
  while (out.ends_with('\n')) {
    out.pop_back();
  }
  return out;
}

std::string markdown(CLI::App& root) {
  std::string out = "# Commands\n\nWritten by `daybreak help --markdown`.\n";
  for (const NamedCommand& command : all_commands(root)) {
    out += "\n## " + command.name + "\n\n```\n" +
           without_trailing_spaces(command_help(*command.app, command.name)) + "\n```\n";
  }
  return out;
}

struct Options {
  bool markdown = false;
  bool fields = false;
  std::vector<std::string> command;
};

Status run(CLI::App& root, const Options& options) {
  if (options.markdown) {
    std::fputs(markdown(root).c_str(), stdout);
    return ok();
  }
  if (options.fields) {
    std::fputs(chat::field_table_markdown().c_str(), stdout);
    return ok();
  }
  DAYBREAK_TRY(const NamedCommand command, find_command(root, options.command));
  std::fputs(command_help(*command.app, command.name).c_str(), stdout);
  return ok();
}

}  // namespace

void register_help(Command root) {
  const Command sub =
      root.add_subcommand("help", "print the list of commands, or one command's help");
  const auto options = std::make_shared<Options>();
  sub.add_option("COMMAND", options->command, "such as chat, or bench decode");
  sub.add_flag("--markdown", options->markdown, "every command, as the markdown of docs/cli.md");
  sub.add_flag("--fields", options->fields, "every request field, as the markdown of docs/api.md");
  sub.runs([&app = root.app(), options] { return run(app, *options); });
}

}  // namespace daybreak::cli
