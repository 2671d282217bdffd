// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of sub-commands. Each register_NAME is defined in src/cli/NAME_command.cc: it declares
// the options on `root` and, when its command is chosen, sets `action`.

#include "cli/command.h"

namespace daybreak::cli {

void register_tokenize(CLI::App& root, Action& action);
void register_detokenize(CLI::App& root, Action& action);
void register_render(CLI::App& root, Action& action);
void register_parse(CLI::App& root, Action& action);
void register_chat(CLI::App& root, Action& action);
void register_generate(CLI::App& root, Action& action);
void register_inspect(CLI::App& root, Action& action);
void register_doctor(CLI::App& root, Action& action);
void register_serve(CLI::App& root, Action& action);
void register_config(CLI::App& root, Action& action);
void register_bench(CLI::App& root, Action& action);
void register_bench_kernels(CLI::App& bench, Action& action);
void register_bench_model(CLI::App& bench, Action& action);  // decode and prefill
void register_help(CLI::App& root, Action& action);

}  // namespace daybreak::cli
