// SPDX-License-Identifier: Apache-2.0
#include "cli/runner_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/cpu_quota.h"
#include "cli/doctor_machine.h"
#include "cli/model_path.h"
#include "cli/read_display.h"
#include "kernels/dispatch.h"
#include "kernels/float_environment.h"
#include "model/draft_replay.h"

namespace daybreak::cli {

void add_runner_options(Command command, RunnerOptions& options) {
  command.add_option("MODEL", options.model, "model directory; default: the bundled model");
  command.add_option("--threads", options.threads,
                     "threads that compute; default: the CPUs this process may use");
  command.add_option("--numerics", options.numerics, "exact (default); fast is not available yet");
  command.add_option("--isa", options.isa,
                     "instruction set: scalar, avx2, ...; default: the best this CPU has");
}

Status read_ahead(const model::Checkpoint& checkpoint, std::uint64_t memory,
                  const model::ReadCallback& progress) {
  return checkpoint.file_bytes() > memory ? ok() : checkpoint.read_through(progress);
}

Result<LoadedModel> load_model(const RunnerOptions& options) {
  if (options.numerics == "fast") {
    return Error{Errc::kUnsupported, "--numerics: this version computes exact only, found fast"};
  }
  if (options.numerics != "exact") {
    return Error{Errc::kInvalidArgument,
                 "--numerics: expected exact or fast, found '" + options.numerics + "'"};
  }
  if (!options.isa.empty()) {
    if (Status status = kernels::use(options.isa); !status) {
      return std::move(status).error().in("--isa");
    }
  }
  DAYBREAK_TRY(std::filesystem::path path, resolve_model(options.model));
  DAYBREAK_TRY(std::unique_ptr<model::Model> model, model::Model::load(path));
  ReadDisplay display;
  DAYBREAK_CHECK_OK(
      read_ahead(model->checkpoint(), read_machine().usable_memory(), std::ref(display)));
  return LoadedModel{.path = std::move(path), .model = std::move(model)};
}

Status check_state_memory(const model::StateLayout& layout, const StateSizes& sizes,
                          std::uint64_t memory) {
  // No sequence outgrows the model's context, whatever the pool allows; a cache fills the pool.
  const std::uint64_t pool = model::pages_for(sizes.positions);
  const std::uint64_t pages =
      sizes.checkpoints > 0
          ? pool
          : std::min<std::uint64_t>(pool, sizes.sequences * model::pages_for(layout.max_positions));
  const std::uint64_t guesses =
      sizes.guesses == 0 ? 0 : model::DraftReplay::floats(layout, sizes.guesses);
  const std::uint64_t rows = (1 + sizes.guesses) * sizes.vocab;
  const std::uint64_t needed =
      sizeof(float) * ((sizes.sequences + sizes.checkpoints) * layout.slot_floats() +
                       pages * layout.page_floats() + sizes.sequences * (guesses + rows));
  if (needed <= memory) {
    return ok();
  }
  return Error{
      Errc::kInvalidArgument,
      fmt::format(
          "{} sequences with {} positions in all, {} guessed tokens each and {} checkpoints: "
          "expected at most the {} bytes of this machine's memory, found {} bytes of state",
          sizes.sequences, sizes.positions, sizes.guesses, sizes.checkpoints, memory, needed)};
}

Result<std::unique_ptr<engine::ModelRunner>> make_runner(const LoadedModel& loaded,
                                                         const RunnerOptions& options,
                                                         const StateSizes& sizes) {
  std::size_t threads = options.threads;
  if (threads == 0) {
    DAYBREAK_TRY(threads, available_cpus());
  }
  const std::uint64_t memory = read_machine().usable_memory();
  StateSizes with_rows = sizes;
  with_rows.vocab = loaded.model->config().vocab_size;
  DAYBREAK_CHECK_OK(
      check_state_memory(model::StateLayout::from(loaded.model->config(), 0), with_rows, memory));
  return engine::ModelRunner::create(loaded.model,
                                     {.threads = threads,
                                      .max_sequences = sizes.sequences,
                                      .max_positions = sizes.positions,
                                      .max_checkpoints = sizes.checkpoints,
                                      .max_guesses = sizes.guesses,
                                      .on_thread_start = kernels::set_float_environment});
}

}  // namespace daybreak::cli
