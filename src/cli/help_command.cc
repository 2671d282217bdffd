// SPDX-License-Identifier: Apache-2.0
// `daybreak help`: the reference of all commands, as text or as the markdown of docs/cli.md, and
// the tables of request fields of docs/.

#include <algorithm>
#include <array>
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

struct Table {
  std::string_view name;
  const chat::FieldTable& (*fields)();
};

constexpr std::array<Table, 4> kTables = {{{"chat", chat::chat_fields},
                                           {"completions", chat::completion_fields},
                                           {"responses", chat::responses_fields},
                                           {"messages", chat::anthropic_fields}}};

struct Options {
  bool markdown = false;
  std::string fields;
  std::vector<std::string> command;
};

Status run(CLI::App& root, const Options& options) {
  if (options.markdown) {
    std::fputs(markdown(root).c_str(), stdout);
    return ok();
  }
  if (!options.fields.empty()) {
    const auto* const table = std::ranges::find(kTables, options.fields, &Table::name);
    if (table == kTables.end()) {
      return Error{Errc::kInvalidArgument,
                   "--fields: expected chat, completions, responses or messages, found '" +
                       options.fields + "'"};
    }
    std::fputs(table->fields().markdown().c_str(), stdout);
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
  sub.add_option("--fields", options->fields,
                 "the request fields of chat, completions, responses or messages, as the markdown "
                 "of docs/");
  sub.runs([&app = root.app(), options] { return run(app, *options); });
}

}  // namespace daybreak::cli
