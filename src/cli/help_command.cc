// SPDX-License-Identifier: Apache-2.0
// `daybreak help`: the reference of all commands, as text or as the markdown of docs/cli.md.

#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.h"
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

void append_markdown(CLI::App& app, const std::string& name, std::string& out) {
  out += "\n## " + name + "\n\n```\n" + without_trailing_spaces(app.help(name)) + "\n```\n";
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    append_markdown(*sub, name + " " + sub->get_name(), out);
  }
}

}  // namespace

void register_help(CLI::App& root, Action& action) {
  CLI::App* sub = root.add_subcommand("help", "print the reference of every command");
  auto markdown = std::make_shared<bool>(false);
  sub->add_flag("--markdown", *markdown, "as the markdown of docs/cli.md");
  sub->callback([&root, &action, markdown] {
    action = [&root, markdown]() -> Status {
      if (*markdown) {
        std::string out = "# Commands\n\nWritten by `daybreak help --markdown`.\n";
        append_markdown(root, "daybreak", out);
        std::fputs(out.c_str(), stdout);
      } else {
        std::fputs(root.help("daybreak", CLI::AppFormatMode::All).c_str(), stdout);
      }
      return ok();
    };
  });
}

}  // namespace daybreak::cli
