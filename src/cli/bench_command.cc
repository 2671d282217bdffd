// SPDX-License-Identifier: Apache-2.0
// `daybreak bench`: the parent of the measuring sub-commands.

#include "cli/command.h"
#include "cli/commands.h"

namespace daybreak::cli {

void register_bench(Command root) {
  const Command bench = root.add_subcommand("bench", "measure this machine and this build");
  bench.require_subcommand();
  register_bench_kernels(bench);
  register_bench_model(bench);
  register_bench_speculation(bench);
  register_bench_grammar(bench);
  register_bench_streams(bench, root.version());
  register_bench_serve(bench);
  register_bench_server(bench, root.version());
}

}  // namespace daybreak::cli
