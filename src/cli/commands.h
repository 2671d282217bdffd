// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of sub-commands. Each register_NAME is defined in src/cli/NAME_command.cc: it declares
// the options on `root` and what to run when its command is chosen.

#include <string>

#include "cli/command.h"

namespace daybreak::cli {

void register_tokenize(Command root);
void register_detokenize(Command root);
void register_render(Command root);
void register_parse(Command root);
void register_schema(Command root);
void register_schema_generate(Command schema);
void register_chat(Command root);
void register_generate(Command root);
void register_batch(Command root);
void register_exam(Command root);
void register_inspect(Command root);
void register_doctor(Command root);
void register_serve(Command root);
void register_config(Command root);
void register_keys(Command root);
void register_usage(Command root);
void register_usage_purge(Command usage);
void register_bench(Command root);
void register_bench_kernels(Command bench);
void register_bench_model(Command bench);  // decode and prefill
void register_bench_speculation(Command bench);
void register_bench_grammar(Command bench);
void register_bench_streams(Command bench, const std::string& version);
void register_bench_serve(Command bench);
void register_bench_server(Command bench, const std::string& version);
void register_help(Command root);

}  // namespace daybreak::cli
