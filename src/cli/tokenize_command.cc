// SPDX-License-Identifier: Apache-2.0
// `daybreak tokenize`: text to ids.

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
  std::string text;
  bool jsonl = false;
  bool special = false;
  bool unsliced = false;
};

std::string joined(const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) {
    out += (out.empty() ? "" : ",") + std::to_string(id);
  }
  return out;
}

Status run(const Options& options) {
  DAYBREAK_TRY(const std::filesystem::path model, resolve_model(options.model));
  DAYBREAK_TRY(const auto tokenizer, tokenizer::Tokenizer::load(model));
  if (options.jsonl) {
    LineReader lines(STDIN_FILENO);
    return answer_lines(lines, stdout, [&](std::string line) {
      return tokenize_line(*tokenizer, std::move(line));
    });
  }
  std::vector<TokenId> ids;
  tokenizer->encode(options.text,
                    options.special ? tokenizer::AllowSpecial::kYes : tokenizer::AllowSpecial::kNo,
                    options.unsliced ? tokenizer::Slicing::kOff : tokenizer::Slicing::kOn, ids);
  std::printf("%s\n", joined(ids).c_str());
  return ok();
}

}  // namespace

void register_tokenize(Command root) {
  const Command sub = root.add_subcommand("tokenize", "turn text into token ids");
  auto options = std::make_shared<Options>();
  sub.add_option("MODEL", options->model, "model directory; default: the bundled model");
  const Command input = sub.one_of("input", "one of");
  const OptionRef jsonl = input.add_flag(
      "--jsonl", options->jsonl,
      R"(answer each line {"text":...,"special":false,"sliced":true} of stdin with {"ids":[...]})");
  input.add_option("--text", options->text, "print the ids of this text, separated by commas");
  sub.add_flag("--special", options->special, "with --text: recognise special tokens")
      .excludes(jsonl);
  sub.add_flag("--unsliced", options->unsliced,
               "with --text: do not cut long text as the released tokenizer does")
      .excludes(jsonl);
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
