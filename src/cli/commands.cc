// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include "cli/unsigned_options.h"

namespace daybreak::cli {

// In the order of `daybreak --help`.
void register_commands(CLI::App& root, Action& action) {
  register_chat(root, action);
  register_generate(root, action);
  register_tokenize(root, action);
  register_detokenize(root, action);
  register_render(root, action);
  register_parse(root, action);
  register_inspect(root, action);
  register_doctor(root, action);
  register_serve(root, action);
  register_config(root, action);
  register_bench(root, action);
  register_help(root, action);
  refuse_negative_counts(root);
}

}  // namespace daybreak::cli
