// SPDX-License-Identifier: Apache-2.0
#pragma once

// Command and OptionRef: how a sub-command declares its options. A thin cover over CLI11, which is
// header-only and costs ten seconds of compile time wherever it is included: only command.cc,
// command_names.cc, unsigned_options.cc and main.cc see it.
//
// Each src/cli/NAME_command.cc defines one register_NAME function, listed in commands.cc: it
// declares the options and what to run when the command is chosen.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace daybreak::cli {

// Runs the chosen sub-command. An error is printed by main as "error: MESSAGE" on stderr and gives
// the process its exit code.
using Action = std::function<Status()>;

// An option already declared; valid as long as the parser it belongs to.
class OptionRef {
 public:
  OptionRef() = default;
  explicit OptionRef(CLI::Option* option) : option_(option) {}

  OptionRef& show_default();  // the variable's present value, in the help
  OptionRef& required();
  OptionRef& comma_separated();
  OptionRef& repeatable();  // of a vector: one value each time it is given
  OptionRef& excludes(OptionRef other);
  // `label` replaces the range in the help.
  OptionRef& in_range(std::uint64_t min, std::uint64_t max, std::string_view label = {});

  // Whether it was on the command line. REQUIRES: parsed.
  [[nodiscard]] bool given() const;

 private:
  CLI::Option* option_ = nullptr;
};

// A command, or one of its option groups; a handle, copied freely, valid as long as the parser.
class Command {
 public:
  // What the chosen command runs is stored in `action`. Both must outlive parsing.
  Command(CLI::App& app, Action& action) : app_(&app), action_(&action) {}

  [[nodiscard]] Command add_subcommand(const std::string& name, const std::string& help) const;
  void require_subcommand() const;

  // T: std::string, std::size_t, std::uint32_t, std::int32_t, float, or a vector of std::string or
  // TokenId. `value` must outlive parsing. A name without dashes is positional.
  template <class T>
  OptionRef add_option(const std::string& name, T& value, const std::string& help) const;
  // Calls `on_value` with the text given.
  OptionRef add_option(const std::string& name, std::function<void(const std::string&)> on_value,
                       const std::string& help) const;
  OptionRef add_flag(const std::string& name, bool& value, const std::string& help) const;
  // A group of options of which exactly one must be given.
  [[nodiscard]] Command one_of(const std::string& name, const std::string& help) const;
  // REQUIRES: an option of that name was declared.
  [[nodiscard]] OptionRef option(const std::string& name) const;

  // The text of --version. REQUIRES: the root command, with one declared.
  [[nodiscard]] std::string version() const;

  // Lets `action` run once everything is parsed and this command, none of its own, was the one
  // chosen.
  void runs(Action action) const;

  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
  Action* action_;
};

// Declares every sub-command on `root`.
void register_commands(Command root);

}  // namespace daybreak::cli
