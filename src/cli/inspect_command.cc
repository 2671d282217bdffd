// SPDX-License-Identifier: Apache-2.0
// `daybreak inspect`: what a model is, how large it is, whether it is whole and where it fits.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/inspect_report.h"
#include "cli/model_path.h"
#include "cli/read_display.h"
#include "engine/model_runner.h"

namespace daybreak::cli {
namespace {

Status run(const InspectOptions& options) {
  DAYBREAK_TRY(const auto path, resolve_model(options.model));
  const auto report = [&] {
    ReadDisplay display;  // gone before the report is printed
    return inspect(path, options, std::ref(display));
  }();
  if (!report) {
    Error error = report.error();
    std::error_code ignored;
    // A file of another kind fails in ways that do not tell so.
    if (std::filesystem::is_regular_file(path, ignored) && path.filename() != "config.json") {
      error.message += "; give the snapshot's directory or its config.json";
    }
    return error;
  }
  const bool colour = ::isatty(STDOUT_FILENO) == 1;
  const std::string text =
      options.json ? inspect_json(*report) : inspect_text(*report, options.layers, colour);
  std::fputs(text.c_str(), stdout);
  return report->status();
}

}  // namespace

void register_inspect(Command root) {
  const auto options = std::make_shared<InspectOptions>();
  const Command sub =
      root.add_subcommand("inspect", "a model's layers, parameters, files and memory plan");
  sub.add_option("MODEL", options->model,
                 "model directory or config.json; default: the bundled model");
  sub.add_flag("--json", options->json, "print JSON");
  sub.add_flag("--verify", options->verify, "read and check every byte of the weights");
  sub.add_flag("--layers", options->layers, "list every layer");
  sub.add_option("--context", options->context,
                 "positions per sequence in the memory plan (default: 8192 or the model's limit)")
      .in_range(1, model::kMaxPositions, "POSITIVE");
  sub.add_option("--slots", options->slots, "sequences at once in the memory plan")
      .in_range(1, model::kMaxPlanSlots, "POSITIVE")
      .show_default();
  sub.add_option("--state-checkpoints", options->state_checkpoints,
                 "copies of states that a server keeps for later requests, as its setting")
      .in_range(0, engine::kMaxCheckpoints, "UINT")
      .show_default();
  sub.add_flag("--bf16-cache", options->bf16_cache, "plan for a bf16 cache; this build keeps fp32");
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
