// SPDX-License-Identifier: Apache-2.0
// `daybreak parse`: generated ids in, reasoning, content and tool calls out.

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "chat/markers.h"
#include "chat/parse_line.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json_lines.h"
#include "cli/model_path.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

Status run(const std::string& model) {
  DAYBREAK_TRY(const auto path, resolve_model(model));
  DAYBREAK_TRY(const auto tokenizer, tokenizer::Tokenizer::load(path));
  DAYBREAK_TRY(const chat::MarkerIds markers, chat::MarkerIds::from(*tokenizer));
  LineReader lines(STDIN_FILENO);
  return answer_lines(lines, stdout, [&](const std::string& line) {
    return chat::parse_line(line, *tokenizer, markers);
  });
}

}  // namespace

void register_parse(Command root) {
  struct Options {
    std::string model;
    bool jsonl = false;
  };
  const auto options = std::make_shared<Options>();
  const Command sub =
      root.add_subcommand("parse", "generated ids to reasoning, content, tool calls");
  sub.add_option("MODEL", options->model, "model directory; default: the bundled model");
  sub.add_flag("--jsonl", options->jsonl,
               "read {\"ids\", \"thinking\", \"tools\", \"chunks\"} per line, write "
               "{\"message\", \"events\", \"finish_reason\"}")
      .required();
  sub.runs([options] { return run(options->model); });
}

}  // namespace daybreak::cli
