// SPDX-License-Identifier: Apache-2.0
// `daybreak generate`: a prompt in, its continuation out. No chat format, no server; the shortest
// way from a checkpoint to tokens, and what scripts compare engines with.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/generate_output.h"
#include "cli/generate_prompt.h"
#include "cli/runner_options.h"
#include "cli/sampling_options.h"
#include "engine/session.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

struct Options {
  RunnerOptions runner;
  PromptOptions prompt;
  engine::SamplingParams sampling{.temperature = 0.0F, .logit_bias = {}, .logprobs = {}};
  std::size_t max_tokens = 128;
  std::string stop_ids;
  std::uint32_t logprobs = 0;
  OptionRef logprobs_given;
  bool ignore_eos = false;
  bool json = false;
  std::string logits_out;
};

// The ids that end an answer: what the model's files call the end, and --stop-ids.
Result<std::vector<TokenId>> stop_ids(const Options& options, const model::ModelConfig& config) {
  DAYBREAK_TRY(std::vector<TokenId> ids, parse_id_list("--stop-ids", options.stop_ids));
  if (!options.ignore_eos) {
    ids.insert(ids.end(), config.eos_ids.begin(), config.eos_ids.end());
  }
  return ids;
}

OutputForm output_form(const Options& options) {
  if (!options.json) {
    return OutputForm::kText;
  }
  return options.logprobs_given.given() ? OutputForm::kJsonWithLogprobs : OutputForm::kJson;
}

Status check_options(const Options& options) {
  if (options.logprobs_given.given() && !options.json) {
    return Error{Errc::kInvalidArgument, "--logprobs: is part of the --json output, add --json"};
  }
  return ok();
}

Status check_length(const engine::GenerateRequest& request, std::size_t context) {
  const std::size_t prompt = request.prompt.size();
  // A prompt that leaves no room is the engine's to refuse.
  if (prompt >= context || request.max_tokens <= context - prompt) {
    return ok();
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("max_tokens: expected at most {} (context of {} less a prompt of {}), "
                           "found {}",
                           context - prompt, context, prompt, request.max_tokens)};
}

Status run(const Options& options) {
  DAYBREAK_CHECK_OK(check_options(options));
  DAYBREAK_TRY(const LoadedModel loaded, load_model(options.runner));
  DAYBREAK_TRY(const auto tokenizer, load_tokenizer(loaded.path, options.prompt));
  engine::GenerateRequest request;
  DAYBREAK_TRY(request.prompt, read_prompt(options.prompt, tokenizer.get()));
  request.sampling = options.sampling;
  if (options.logprobs_given.given()) {
    request.sampling.logprobs = options.logprobs;
  }
  // 0 asks for the prompt's logits alone; a request needs at least one token, which is then
  // dropped.
  request.max_tokens = std::max<std::size_t>(options.max_tokens, 1);
  DAYBREAK_TRY(request.stop_ids, stop_ids(options, loaded.model->config()));
  // Also by the engine, but only after memory is planned for what no context holds.
  DAYBREAK_CHECK_OK(check_length(request, loaded.model->config().max_positions));

  DAYBREAK_TRY(const auto runner,
               make_runner(loaded, options.runner,
                           {.positions = request.prompt.size() + request.max_tokens}));
  GenerateOutput output(tokenizer.get(), output_form(options));
  LogitsFile logits(options.logits_out);
  engine::Session session(*runner);
  engine::SessionCallbacks callbacks;
  callbacks.on_prompt = [&](std::size_t done, std::size_t total) {
    output.prompt_progress(done, total);
    return true;
  };
  callbacks.on_prompt_logits = [&](std::span<const float> row) { logits.write(row); };
  callbacks.on_token = [&](const engine::GeneratedToken& token) {
    return options.max_tokens > 0 && logits.status() && output.token(token, request.stop_ids);
  };
  DAYBREAK_TRY(engine::SessionAnswer answer, session.generate(request, callbacks));
  DAYBREAK_CHECK_OK(logits.status());
  if (options.max_tokens == 0) {
    answer.finish = engine::FinishReason::kLength;
  }
  return output.finish(request.prompt, answer);
}

}  // namespace

void register_generate(Command root) {
  const auto options = std::make_shared<Options>();
  const Command sub = root.add_subcommand("generate", "continue a prompt of text or token ids");
  add_runner_options(sub, options->runner);
  add_prompt_options(sub, options->prompt);
  sub.add_option("--max-tokens", options->max_tokens, "0 = read the prompt only").show_default();
  add_sampling_options(sub, options->sampling);
  sub.add_option("--stop-ids", options->stop_ids, "more token ids that end the answer: 1,2,3");
  sub.add_flag("--ignore-eos", options->ignore_eos, "do not end at the model's end-of-text ids");
  options->logprobs_given =
      sub.add_option("--logprobs", options->logprobs,
                     "with --json: log-probability of each token and of the N best");
  sub.add_flag("--json", options->json,
               "write {\"prompt_ids\", \"ids\", \"text\", \"finish_reason\"} instead of the text");
  sub.add_option("--logits-out", options->logits_out,
                 "file for the logits of the last prompt position: raw little-endian float32");
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
