// SPDX-License-Identifier: Apache-2.0
// `daybreak render`: conversations in, the exact prompt out.

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "chat/python_json.h"
#include "chat/render.h"
#include "chat/render_line.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json_lines.h"
#include "cli/model_path.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

Result<std::string> render_one(std::string_view line, const tokenizer::Tokenizer& tokenizer) {
  DAYBREAK_TRY(const chat::ChatRequest request, chat::parse_render_line(line));
  DAYBREAK_TRY(const chat::Prompt prompt, chat::render(request, tokenizer));
  std::string out = "{\"text\":";
  chat::append_python_string(out, chat::join_text(prompt.segments));
  out += ",\"ids\":[";
  for (std::size_t i = 0; i < prompt.ids.size(); ++i) {
    out += (i > 0 ? "," : "") + std::to_string(prompt.ids[i]);
  }
  return out + "]}";
}

Status run(const std::string& model) {
  DAYBREAK_TRY(const auto path, resolve_model(model));
  DAYBREAK_TRY(const auto tokenizer, tokenizer::Tokenizer::load(path));
  LineReader lines(STDIN_FILENO);
  return answer_lines(lines, stdout,
                      [&](const std::string& line) { return render_one(line, *tokenizer); });
}

}  // namespace

void register_render(Command root) {
  struct Options {
    std::string model;
    bool jsonl = false;
  };
  const auto options = std::make_shared<Options>();
  const Command sub = root.add_subcommand("render", "conversations to prompt text and ids");
  sub.add_option("MODEL", options->model, "model directory; default: the bundled model");
  sub.add_flag("--jsonl", options->jsonl,
               "read {\"messages\", \"tools\", \"kwargs\"} per line, write {\"text\", \"ids\"}")
      .required();
  sub.runs([options] { return run(options->model); });
}

}  // namespace daybreak::cli
