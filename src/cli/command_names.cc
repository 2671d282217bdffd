// SPDX-License-Identifier: Apache-2.0
#include "cli/command_names.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "cli/edit_distance.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kLongestCompared = 32;  // no command is longer: the rest only costs time

Error unknown_command(CLI::App& parent, const std::string& name, const std::string& word) {
  const std::string_view compared = std::string_view(word).substr(0, kLongestCompared);
  std::string nearest;
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (const CLI::App* sub : named_subcommands(parent)) {
    const std::size_t distance = edit_distance(compared, sub->get_name());
    if (distance < best) {
      best = distance;
      nearest = sub->get_name();
    }
  }
  std::string text = fmt::format("unknown command '{}'", word);
  // Half of the letters wrong is another word, not a slip.
  text += best * 2 <= nearest.size() ? fmt::format("; did you mean '{}'?", nearest)
                                     : fmt::format("; '{} --help' lists them", name);
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
