// SPDX-License-Identifier: Apache-2.0
#include "cli/command_names.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/edit_distance.h"

namespace daybreak::cli {
namespace {

Error unknown_command(CLI::App& parent, const std::string& name, const std::string& word) {
  std::vector<std::string_view> names;
  for (const CLI::App* sub : named_subcommands(parent)) {
    names.push_back(sub->get_name());
  }
  const std::string_view meant = nearest_name(word, names);
  std::string text = fmt::format("unknown command '{}'", word);
  text += meant.empty() ? fmt::format("; '{} --help' lists them", name)
                        : fmt::format("; did you mean '{}'?", meant);
  return {Errc::kInvalidArgument, std::move(text)};
}

void append_commands(CLI::App& app, const std::string& name, std::vector<NamedCommand>& out) {
  out.push_back({.app = &app, .name = name});
  for (CLI::App* sub : named_subcommands(app)) {
    append_commands(*sub, name + " " + sub->get_name(), out);
  }
}

}  // namespace

std::vector<NamedCommand> all_commands(CLI::App& root) {
  std::vector<NamedCommand> out;
  append_commands(root, root.get_name(), out);
  return out;
}

std::vector<CLI::App*> named_subcommands(CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); });
}

Result<NamedCommand> find_command(CLI::App& root, std::span<const std::string> words) {
  NamedCommand found{.app = &root, .name = root.get_name()};
  for (const std::string& word : words) {
    if (word.empty() || word.front() == '-' || named_subcommands(*found.app).empty()) {
      break;
    }
    const std::vector<CLI::App*> subs = named_subcommands(*found.app);
    const auto sub = std::ranges::find(subs, word, &CLI::App::get_name);
    if (sub == subs.end()) {
      return unknown_command(*found.app, found.name, word);
    }
    found.app = *sub;
    found.name += " " + word;
  }
  return found;
}

std::string command_help(const CLI::App& app, const std::string& name) {
  // App::help() answers for the sub-command that was parsed, here `help` itself.
  return app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal);
}

}  // namespace daybreak::cli
