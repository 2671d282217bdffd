// SPDX-License-Identifier: Apache-2.0
// `daybreak schema`: what the structured-output side says about a schema, line by line.

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json_lines.h"
#include "cli/schema_lines.h"

namespace daybreak::cli {
namespace {

struct Options {
  bool jsonl = false;
  bool formats = false;
  bool annotate = false;
};

Status run(const LineHandler& handler) {
  LineReader lines(STDIN_FILENO);
  return answer_lines(lines, stdout, handler);
}

void register_check(Command schema) {
  const auto options = std::make_shared<Options>();
  const Command sub =
      schema.add_subcommand("check", "whether a schema is one, and in a dialect we serve");
  sub.add_flag(
         "--jsonl", options->jsonl,
         "read {\"schema\", \"dialect\": \"2020-12\", \"mfjs\" or \"enforced\"} per line, write "
         "{\"ok\", \"error\"}")
      .required();
  sub.runs(
      [options] { return run([](const std::string& line) { return schema_check_line(line); }); });
}

void register_validate(Command schema) {
  const auto options = std::make_shared<Options>();
  const Command sub = schema.add_subcommand("validate", "whether a value conforms to a schema");
  sub.add_flag("--jsonl", options->jsonl,
               "read {\"schema\", \"instance\"} per line, write {\"ok\", \"errors\"}")
      .required();
  sub.add_flag("--formats", options->formats, "take format for a rule, not for a remark");
  sub.runs([options] {
    const auto formats = options->formats ? grammar::Formats::kAssert : grammar::Formats::kAnnotate;
    return run([formats](const std::string& line) { return schema_validate_line(line, formats); });
  });
}

void register_accept(Command schema) {
  const auto options = std::make_shared<Options>();
  const Command sub =
      schema.add_subcommand("accept", "whether an answer constrained to a schema could be a text");
  sub.add_flag("--jsonl", options->jsonl,
               "read {\"schema\", \"text\"} per line, write {\"accepted\"}")
      .required();
  sub.add_flag("--annotate-formats", options->annotate,
               "take format for a remark; decoding takes it for a rule");
  sub.runs([options] {
    const auto formats =
        options->annotate ? grammar::Formats::kAnnotate : grammar::Formats::kAssert;
    return run([formats](const std::string& line) { return schema_accept_line(line, formats); });
  });
}

}  // namespace

void register_schema(Command root) {
  const Command schema = root.add_subcommand("schema", "check JSON Schemas and values");
  schema.require_subcommand();
  register_check(schema);
  register_validate(schema);
  register_accept(schema);
  register_schema_generate(schema);
}

}  // namespace daybreak::cli
