// SPDX-License-Identifier: Apache-2.0
// `daybreak bench speculation`: what guessing is worth here, on text that repeats and on text that
// does not.

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/cpu_quota.h"
#include "cli/bench_speculation_run.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/runner_options.h"
#include "engine/stats.h"

namespace daybreak::cli {
namespace {

struct Options {
  RunnerOptions runner;
  SpeculationShape shape;
  bool json = false;
};

constexpr std::array kTexts = {std::pair{SpeculationText::kRepetitive, "repetitive"},
                               std::pair{SpeculationText::kMisleading, "misleading"},
                               std::pair{SpeculationText::kRandom, "random"}};

nlohmann::ordered_json to_json(const SpeculationResult& result) {
  return {{"plain_tok_s", result.plain_tok_s},
          {"guessing_tok_s", result.guessing_tok_s},
          {"ratio", result.ratio()},
          {"acceptance_length", result.acceptance_length()},
          {"drafts", result.drafts},
          {"draft_tokens", result.draft_tokens},
          {"accepted_tokens", result.accepted_tokens}};
}

std::string to_text(const char* name, const SpeculationResult& result) {
  const std::size_t middle = result.plain_tok_s.size() / 2;
  return fmt::format("{:<12}{:>10.2f}{:>12.2f}{:>8.2f}{:>12.2f}{:>10}{:>10}\n", name,
                     result.plain_tok_s[middle], result.guessing_tok_s[middle], result.ratio(),
                     result.acceptance_length(), result.draft_tokens, result.accepted_tokens);
}

Status run(const Options& options) {
  SpeculationShape shape = options.shape;
  shape.threads = options.runner.threads;
  if (shape.threads == 0) {
    DAYBREAK_TRY(shape.threads, available_cpus());
  }
  DAYBREAK_TRY(const LoadedModel loaded, load_model(options.runner));
  nlohmann::ordered_json json = {{"model", loaded.path.string()},
                                 {"threads", shape.threads},
                                 {"num_speculative_tokens", shape.speculation.most},
                                 {"prompt_lookup_min", shape.speculation.min_match},
                                 {"prompt", shape.prompt},
                                 {"tokens", shape.tokens}};
  if (!options.json) {
    fmt::print(
        "{}, {} threads, {} tokens after a prompt of {}, medians of {}\n"
        "{:<12}{:>10}{:>12}{:>8}{:>12}{:>10}{:>10}\n",
        loaded.path.string(), shape.threads, shape.tokens, shape.prompt, shape.repeat, "text",
        "tok/s", "guessing", "ratio", "acceptance", "guessed", "right");
  }
  for (const auto& [text, name] : kTexts) {
    DAYBREAK_TRY(const SpeculationResult result, run_speculation_bench(loaded.model, text, shape));
    json[name] = to_json(result);
    if (!options.json) {
      fmt::print("{}", to_text(name, result));
      std::fflush(stdout);
    }
  }
  if (options.json) {
    fmt::print("{}\n", json.dump());
  }
  return ok();
}

}  // namespace

void register_bench_speculation(Command bench) {
  const auto options = std::make_shared<Options>();
  const Command command = bench.add_subcommand(
      "speculation",
      "answers with guessed tokens and without, on text that repeats, misleads or is random");
  add_runner_options(command, options->runner);
  command.add_option("--prompt", options->shape.prompt, "tokens of the prompt")
      .in_range(1, 65'536)
      .show_default();
  command.add_option("--tokens", options->shape.tokens, "tokens of an answer")
      .in_range(2, 65'536)
      .show_default();
  command.add_option("--repeat", options->shape.repeat, "runs of each; the median is reported")
      .in_range(1, 1000)
      .show_default();
  command
      .add_option("--num-speculative-tokens", options->shape.speculation.most,
                  "tokens guessed at a time, at most")
      .in_range(1, engine::kMaxDraftTokens)
      .show_default();
  command
      .add_option("--prompt-lookup-min", options->shape.speculation.min_match,
                  "last tokens that must have been there before")
      .in_range(1, engine::kMaxLookupIds)
      .show_default();
  command.add_flag("--json", options->json, "print JSON");
  command.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
