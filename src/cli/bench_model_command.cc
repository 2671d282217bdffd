// SPDX-License-Identifier: Apache-2.0
// `daybreak bench decode|prefill`: how fast a model runs here, beside what the machine allows.
// Decode is bound by reading weights, prefill by multiply-adds; the share is of that limit.

#include <algorithm>
#include <memory>
#include <string>

#include "base/cpu_quota.h"
#include "cli/bench_model_report.h"
#include "cli/bench_model_run.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/machine_limits.h"
#include "cli/runner_options.h"
#include "kernels/dispatch.h"
#include "kernels/float_environment.h"

namespace daybreak::cli {
namespace {

struct Options {
  RunnerOptions runner;
  BenchShape shape;
  std::string dense = "stored";
  std::string output = "text";
  bool json = false;
};

Status run(BenchMode mode, const Options& options) {
  if (options.dense != "stored") {
    return Error{
        Errc::kUnsupported,
        "--dense: this version computes with weights as stored, found '" + options.dense + "'"};
  }
  DAYBREAK_TRY(const BenchFormat format,
               parse_bench_format(options.json ? "json" : options.output));
  BenchShape shape = options.shape;
  if (options.runner.threads == 0) {
    DAYBREAK_TRY(shape.threads, available_cpus());
  } else {
    shape.threads = options.runner.threads;
  }
  DAYBREAK_TRY(const auto team, ThreadTeam::start(shape.threads, kernels::set_float_environment));
  DAYBREAK_TRY(const LoadedModel loaded, load_model(options.runner));
  DAYBREAK_TRY(const BenchResult result, run_model_bench(*loaded.model, mode, shape, *team));
  const MachineLimits limits = measure_machine_limits(*team);
  print_bench_report({.mode = mode,
                      .model = loaded.path.string(),
                      .isa = std::string(kernels::active().isa),
                      .shape = shape,
                      .result = result,
                      .limits = limits},
                     format);
  return ok();
}

void register_mode(Command bench, BenchMode mode, const char* name, const char* summary,
                   std::size_t default_tokens) {
  const auto options = std::make_shared<Options>();
  options->shape.tokens = default_tokens;
  const Command command = bench.add_subcommand(name, summary);
  add_runner_options(command, options->runner);
  command.add_option("--tokens", options->shape.tokens, "tokens per sequence and repeat")
      .in_range(1, kMaxBenchTokens)
      .show_default();
  command.add_option("--depth", options->shape.depth, "tokens already in the state")
      .in_range(0, kMaxBenchTokens)
      .show_default();
  command.add_option("--batch", options->shape.batch, "sequences at once")
      .in_range(1, kMaxBenchBatch)
      .show_default();
  command.add_option("--repeat", options->shape.repeat, "runs; the median is reported")
      .in_range(1, kMaxBenchRepeat)
      .show_default();
  command.add_option("--dense", options->dense, "stored (default): weights as in the checkpoint");
  command.add_option("--output", options->output, "text, json, md or csv").show_default();
  command.add_flag("--json", options->json, "same as --output json");
  command.runs([options, mode] { return run(mode, *options); });
}

}  // namespace

void register_bench_model(Command bench) {
  register_mode(bench, BenchMode::kDecode, "decode",
                "generate token by token; beside the read bandwidth", 32);
  register_mode(bench, BenchMode::kPrefill, "prefill",
                "process prompts; beside the multiply-add rate", 128);
}

}  // namespace daybreak::cli
