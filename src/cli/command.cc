// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/token.h"

namespace daybreak::cli {

static_assert(std::is_same_v<std::size_t, std::uint64_t>, "in_range compares options of both");

OptionRef& OptionRef::show_default() {
  option_->capture_default_str();
  return *this;
}

OptionRef& OptionRef::required() {
  option_->required();
  return *this;
}

OptionRef& OptionRef::comma_separated() {
  option_->delimiter(',');
  return *this;
}

OptionRef& OptionRef::repeatable() {
  option_->allow_extra_args(false);
  return *this;
}

OptionRef& OptionRef::excludes(OptionRef other) {
  option_->excludes(other.option_);
  return *this;
}

OptionRef& OptionRef::in_range(std::uint64_t min, std::uint64_t max, std::string_view label) {
  CLI::Range range(min, max);
  if (!label.empty()) {
    range.description(std::string(label));
  }
  option_->check(range);
  return *this;
}

bool OptionRef::given() const { return option_->count() > 0; }

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
  return {*app_->add_subcommand(name, help), *action_};
}

void Command::require_subcommand() const { app_->require_subcommand(1); }

template <class T>
OptionRef Command::add_option(const std::string& name, T& value, const std::string& help) const {
  return OptionRef(app_->add_option(name, value, help));
}

template OptionRef Command::add_option(const std::string&, std::string&, const std::string&) const;
template OptionRef Command::add_option(const std::string&, std::size_t&, const std::string&) const;
template OptionRef Command::add_option(const std::string&, std::uint32_t&,
                                       const std::string&) const;
template OptionRef Command::add_option(const std::string&, std::int32_t&, const std::string&) const;
template OptionRef Command::add_option(const std::string&, float&, const std::string&) const;
template OptionRef Command::add_option(const std::string&, std::vector<std::string>&,
                                       const std::string&) const;
template OptionRef Command::add_option(const std::string&, std::vector<TokenId>&,
                                       const std::string&) const;

OptionRef Command::add_option(const std::string& name,
                              std::function<void(const std::string&)> on_value,
                              const std::string& help) const {
  return OptionRef(app_->add_option_function<std::string>(name, on_value, help));
}

OptionRef Command::add_flag(const std::string& name, bool& value, const std::string& help) const {
  return OptionRef(app_->add_flag(name, value, help));
}

Command Command::one_of(const std::string& name, const std::string& help) const {
  CLI::Option_group* group = app_->add_option_group(name, help);
  group->require_option(1);
  return {*group, *action_};
}

OptionRef Command::option(const std::string& name) const {
  return OptionRef(app_->get_option(name));
}

std::string Command::version() const { return app_->version(); }

void Command::runs(Action action) const {
  app_->callback([app = app_, slot = action_, action = std::move(action)] {
    if (app->get_subcommands().empty()) {
      *slot = action;
    }
  });
}

}  // namespace daybreak::cli
