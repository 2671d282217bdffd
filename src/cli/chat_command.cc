// SPDX-License-Identifier: Apache-2.0
// `daybreak chat`: a conversation on the terminal, or one message per line through a pipe.

#include <unistd.h>

#include <memory>
#include <random>
#include <string>

#include "chat/markers.h"
#include "cli/chat_loop.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/runner_options.h"
#include "cli/sampling_options.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

struct Options {
  RunnerOptions runner;
  ChatSettings settings;
  std::string effort = "max";
  std::string session_file;
  std::size_t context = 32'768;
  OptionRef seed_given;
};

Status run(const Options& options) {
  if (!options.session_file.empty()) {
    DAYBREAK_CHECK_OK(engine::check_sequence_writable(kSessionFile, options.session_file));
  }
  DAYBREAK_TRY(const LoadedModel loaded, load_model(options.runner));
  DAYBREAK_TRY(const auto tokenizer, tokenizer::Tokenizer::load(loaded.path));
  DAYBREAK_TRY(const chat::MarkerIds markers, chat::MarkerIds::from(*tokenizer));
  ChatSettings settings = options.settings;
  DAYBREAK_TRY(settings.thinking, parse_effort(options.effort));
  if (!options.seed_given.given()) {
    std::random_device entropy;
    settings.sampling.seed = std::uint64_t{entropy()} << 32 | entropy();
  }
  DAYBREAK_CHECK_OK(engine::validate(settings.sampling, loaded.model->config().vocab_size));
  DAYBREAK_TRY(const auto runner,
               make_runner(loaded, options.runner, {.positions = options.context}));
  ChatSession session(*tokenizer, markers, *runner, std::move(settings));
  DAYBREAK_TRY(Interrupts interrupts, Interrupts::install());
  ChatLoop loop(session, interrupts,
                {.in = STDIN_FILENO,
                 .out = stdout,
                 .log = stderr,
                 .in_terminal = ::isatty(STDIN_FILENO) == 1,
                 .out_terminal = ::isatty(STDOUT_FILENO) == 1,
                 .session_file = options.session_file});
  return loop.run();
}

}  // namespace

void register_chat(Command root) {
  const auto options = std::make_shared<Options>();
  options->settings.sampling.top_p = 0.95F;
  options->settings.max_tokens = 8192;
  const Command sub = root.add_subcommand("chat", "talk to a model; /help lists what can be typed");
  add_runner_options(sub, options->runner);
  sub.add_option("--system", options->settings.system, "system message");
  sub.add_option("--session", options->session_file,
                 "file that keeps the conversation and the model's state between starts");
  sub.add_option("--effort", options->effort, "thinking: low, high, max or off").show_default();
  sub.add_option("--context", options->context, "tokens that the conversation may have")
      .show_default();
  sub.add_option("--max-tokens", options->settings.max_tokens, "tokens of one answer")
      .show_default();
  add_sampling_options(sub, options->settings.sampling);
  options->seed_given = sub.option("--seed");
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
