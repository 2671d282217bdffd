// SPDX-License-Identifier: Apache-2.0
// `daybreak config`: the configuration a server would get, and where each value comes from.

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/server_config_sources.h"

namespace daybreak::cli {
namespace {

enum class Form { kYaml, kJson, kMarkdown };

Status run(const ConfigSources& sources, Form form) {
  std::string text;
  if (form == Form::kMarkdown) {
    text = server_keys_markdown();
  } else {
    DAYBREAK_TRY(const EffectiveConfig config, effective_config(sources));
    text = form == Form::kJson ? to_json(config) + "\n" : to_yaml(config);
  }
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return Error{Errc::kIo, "cannot write to stdout"};
  }
  return ok();
}

}  // namespace

void register_config(Command root) {
  struct Flags {
    bool json = false;
    bool markdown = false;
  };
  const Command sub =
      root.add_subcommand("config", "the configuration serve would use, with origins");
  const auto sources = add_server_options(sub);
  const auto flags = std::make_shared<Flags>();
  sub.add_flag("--json", flags->json, "as JSON: {\"KEY\":{\"value\",\"origin\"}}");
  sub.add_flag("--markdown", flags->markdown, "the table of all keys, as in docs/configuration.md");
  sub.runs([sources, flags] {
    const Form form = flags->markdown ? Form::kMarkdown : flags->json ? Form::kJson : Form::kYaml;
    return run(*sources, form);
  });
}

}  // namespace daybreak::cli
