// SPDX-License-Identifier: Apache-2.0
// `daybreak detokenize`: ids to text.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json_lines.h"
#include "cli/model_path.h"
#include "cli/tokenize_lines.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

struct Options {
  std::string model;
  std::vector<TokenId> ids;
  bool jsonl = false;
};

Status run(const Options& options) {
  DAYBREAK_TRY(const std::filesystem::path model, resolve_model(options.model));
  DAYBREAK_TRY(const auto tokenizer, tokenizer::Tokenizer::load(model));
  if (options.jsonl) {
    LineReader lines(STDIN_FILENO);
    return answer_lines(lines, stdout,
                        [&](const std::string& line) { return detokenize_line(*tokenizer, line); });
  }
  for (const TokenId id : options.ids) {
    if (id >= tokenizer->vocab_size()) {
      return Error{Errc::kInvalidArgument, "--ids: expected integers from 0 to " +
                                               std::to_string(tokenizer->vocab_size() - 1) +
                                               ", found " + std::to_string(id)};
    }
  }
  const std::string text = tokenizer->decode(options.ids) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ok();
}

}  // namespace

void register_detokenize(Command root) {
  const Command sub = root.add_subcommand("detokenize", "turn token ids into text");
  auto options = std::make_shared<Options>();
  sub.add_option("MODEL", options->model, "model directory; default: the bundled model");
  const Command input = sub.one_of("input", "one of");
  input.add_flag(
      "--jsonl", options->jsonl,
      R"(answer each line {"ids":[...],"skip_special":false} of stdin with {"text":...})");
  input.add_option("--ids", options->ids, "print the text of these ids, separated by commas")
      .comma_separated();
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
