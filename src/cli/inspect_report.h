// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything `daybreak inspect` says about a model, gathered before any of it is printed, so that
// text and JSON show the same facts.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/server_config.h"
#include "model/checkpoint.h"
#include "model/config.h"
#include "model/memory_plan.h"
#include "model/model_size.h"
#include "model/tensor_catalog.h"

namespace daybreak::cli {

struct InspectOptions {
  std::string model = "";
  bool json = false;
  bool verify = false;
  bool layers = false;
  std::uint64_t context = 0;  // 0: the smaller of kDefaultContext and what the model allows
  std::uint64_t slots = 1;
  std::uint64_t state_checkpoints = ServerConfig{}.state_checkpoints;
  bool bf16_cache = false;
};
inline constexpr std::uint64_t kDefaultContext = 8192;

// What the files say; unset for a bare config.json.
struct CheckpointFacts {
  std::size_t shards = 0;
  std::size_t tensors = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t data_bytes = 0;
  model::CatalogReport catalog;
  bool verified = false;  // every byte read and checked
};

struct LayerFacts {
  std::string kind;  // "KDA + dense"
  std::uint64_t tensors = 0;
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;
};

struct InspectReport {
  std::filesystem::path path;
  model::ModelConfig config;
  model::ModelSize size;
  model::MemoryPlan plan;
  std::vector<LayerFacts> layers;
  std::optional<CheckpointFacts> checkpoint;
  std::uint64_t memory_total = 0;  // bytes this process may fill

  // Returns ok, or what is wrong with the checkpoint.
  [[nodiscard]] Status status() const;
};

// Reads the config and, for a directory with weights, the headers of its files; with --verify every
// byte, calling `progress`.
// Errors: those of load_config, Checkpoint::open, Checkpoint::verify and plan_memory;
//         kInvalidArgument  --verify without weights to verify.
[[nodiscard]] Result<InspectReport> inspect(const std::filesystem::path& path,
                                            const InspectOptions& options,
                                            const model::ReadCallback& progress);

// Returns "KKKM x23 + M": one letter per layer (K: KDA, M: MLA), the repeating part once.
[[nodiscard]] std::string layer_pattern(const model::ModelConfig& config);

// The two renderings.
[[nodiscard]] std::string inspect_text(const InspectReport& report, bool show_layers, bool colour);
[[nodiscard]] std::string inspect_json(const InspectReport& report);

}  // namespace daybreak::cli
