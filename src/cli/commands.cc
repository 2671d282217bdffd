// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include "cli/unsigned_options.h"

namespace daybreak::cli {

// In the order of `daybreak --help`.
void register_commands(Command root) {
  register_chat(root);
  register_generate(root);
  register_batch(root);
  register_tokenize(root);
  register_detokenize(root);
  register_render(root);
  register_parse(root);
  register_schema(root);
  register_exam(root);
  register_inspect(root);
  register_doctor(root);
  register_serve(root);
  register_config(root);
  register_keys(root);
  register_usage(root);
  register_bench(root);
  register_help(root);
  refuse_negative_counts(root.app());
}

}  // namespace daybreak::cli
