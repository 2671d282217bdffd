// SPDX-License-Identifier: Apache-2.0
// `daybreak inspect`: what a model is, how large it is, whether it is whole and where it fits.

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/progress.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/inspect_report.h"
#include "cli/model_path.h"

namespace daybreak::cli {
namespace {

std::size_t terminal_columns() {
  winsize size = {};
  constexpr std::size_t kDefault = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefault;
}

// Shows "3/96 model-00003-of-00096.safetensors" on stderr while bytes are read.
class ReadDisplay {
 public:
  bool operator()(const model::ReadProgress& progress) {
    if (!bar_) {
      bar_ = std::make_unique<ProgressBar>(
          ProgressOptions{.total = progress.total_bytes,
                          .terminal = ::isatty(STDERR_FILENO) == 1,
                          .columns = terminal_columns()},
          [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); });
    }
    bar_->update(progress.done_bytes, std::to_string(progress.shard + 1) + "/" +
                                          std::to_string(progress.shards) + " " +
                                          std::string(progress.file));
    return true;
  }
  void finish() { bar_.reset(); }

 private:
  std::unique_ptr<ProgressBar> bar_;
};

Status run(const InspectOptions& options) {
  DAYBREAK_TRY(const auto path, resolve_model(options.model));
  ReadDisplay display;
  const auto report = inspect(
      path, options, [&](const model::ReadProgress& progress) { return display(progress); });
  display.finish();
  DAYBREAK_CHECK_OK(report);
  const bool colour = ::isatty(STDOUT_FILENO) == 1;
  const std::string text =
      options.json ? inspect_json(*report) : inspect_text(*report, options.layers, colour);
  std::fputs(text.c_str(), stdout);
  return report->status();
}

}  // namespace

void register_inspect(CLI::App& root, Action& action) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* sub =
      root.add_subcommand("inspect", "a model's layers, parameters, files and memory plan");
  sub->add_option("MODEL", options->model,
                  "model directory or config.json; default: the bundled model");
  sub->add_flag("--json", options->json, "print JSON");
  sub->add_flag("--verify", options->verify, "read and check every byte of the weights");
  sub->add_flag("--layers", options->layers, "list every layer");
  sub->add_option("--context", options->context,
                  "positions per sequence in the memory plan (default: 8192 or the model's limit)")
      ->check(CLI::PositiveNumber);
  sub->add_option("--slots", options->slots, "sequences at once in the memory plan")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_flag("--bf16-cache", options->bf16_cache,
                "plan for a bf16 cache; this build keeps fp32");
  sub->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace daybreak::cli
