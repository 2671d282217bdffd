// SPDX-License-Identifier: Apache-2.0
// `daybreak bench`: the parent of the measuring sub-commands.

#include "cli/command.h"
#include "cli/commands.h"

namespace daybreak::cli {

void register_bench(CLI::App& root, Action& action) {
  CLI::App* bench = root.add_subcommand("bench", "measure this machine and this build");
  bench->require_subcommand(1);
  register_bench_kernels(*bench, action);
  register_bench_model(*bench, action);
}

}  // namespace daybreak::cli
