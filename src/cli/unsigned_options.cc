// SPDX-License-Identifier: Apache-2.0
#include "cli/unsigned_options.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace daybreak::cli {
namespace {

std::string check_not_negative(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n\v\f\r");
  if (first != std::string::npos && text[first] == '-') {
    return fmt::format("expected an integer of at least 0, found '{}'", text);
  }
  return {};
}

}  // namespace

void refuse_negative_counts(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    // The type that CLI11 shows in the help, which it derives from the C++ type.
    if (option->get_type_name().starts_with("UINT")) {
      option->check(CLI::Validator(check_not_negative, "", "not negative"));
    }
  }
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    refuse_negative_counts(*sub);
  }
}

}  // namespace daybreak::cli
