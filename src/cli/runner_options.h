// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options by which every command that computes chooses a model and how to run it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "engine/model_runner.h"
#include "model/state_layout.h"

namespace daybreak::cli {

struct RunnerOptions {
  std::string model;        // empty: the bundled model
  std::size_t threads = 0;  // 0: available_cpus()
  std::string numerics = "exact";
  std::string isa;  // empty: the fastest this CPU has
};

// Declares MODEL, --threads, --numerics and --isa. `options` must outlive parsing.
void add_runner_options(Command command, RunnerOptions& options);

struct LoadedModel {
  std::filesystem::path path;
  std::shared_ptr<const model::Model> model;  // also owned by the runners made of it
};

// Reads every page of the weights, so that the first answer does not wait for the disk, unless they
// are larger than `memory` bytes: then reading would only push out what it has just read.
// Errors: kCancelled when `progress` returned false.
Status read_ahead(const model::Checkpoint& checkpoint, std::uint64_t memory,
                  const model::ReadCallback& progress);

// Chooses the instruction set, opens the model and reads ahead, with a bar on a terminal. Errors:
// kUnsupported for numerics other than "exact", kInvalidArgument for an unknown isa, those of
// resolve_model and Model::load.
Result<LoadedModel> load_model(const RunnerOptions& options);

// Copies of states to start from that a server keeps by default.
inline constexpr std::size_t kDefaultCheckpoints = 16;

// What a runner holds at most, see ModelRunnerOptions.
struct StateSizes {
  std::size_t sequences = 1;
  std::size_t positions = 0;  // in all
  std::size_t checkpoints = 0;
  std::size_t guesses = 0;  // of a sequence at a time
  std::size_t vocab = 0;    // of the rows of logits, one for each sequence and each guess
};

// Checks that states of those sizes fit into `memory` bytes. They are
// taken when first needed, so that without this check a busy server would die of it much later.
// Errors: kInvalidArgument naming both numbers of bytes.
Status check_state_memory(const model::StateLayout& layout, const StateSizes& sizes,
                          std::uint64_t memory);

// Returns a runner of a loaded model. Errors: those of ModelRunner::create, available_cpus and
// check_state_memory for this machine.
Result<std::unique_ptr<engine::ModelRunner>> make_runner(const LoadedModel& loaded,
                                                         const RunnerOptions& options,
                                                         const StateSizes& sizes);

}  // namespace daybreak::cli
