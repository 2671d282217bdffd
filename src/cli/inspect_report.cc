// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_report.h"

#include <algorithm>
#include <system_error>

#include "cli/doctor_machine.h"

namespace daybreak::cli {
namespace {

bool holds_weights(const std::filesystem::path& dir) {
  std::error_code ignored;
  return std::filesystem::exists(dir / "model.safetensors", ignored) ||
         std::filesystem::exists(dir / "model.safetensors.index.json", ignored);
}

std::vector<LayerFacts> layer_facts(const model::ModelConfig& config,
                                    const model::TensorNaming& naming,
                                    const model::Checkpoint* checkpoint) {
  std::vector<LayerFacts> layers(config.layers);
  for (std::size_t i = 0; i < config.layers; ++i) {
    layers[i].kind =
        std::string(config.is_kda(i) ? "KDA" : "MLA") + (config.is_moe(i) ? " + MoE" : " + dense");
  }
  model::for_each_tensor(config, naming, [&](const model::TensorSpec& spec) {
    if (!spec.layer) {
      return;
    }
    std::uint64_t elements = model::element_count(spec.shape).value_or(0);
    std::uint64_t bytes = elements * model::size_of(spec.dtype);
    if (checkpoint != nullptr) {
      if (const auto view = checkpoint->tensor(spec.name)) {
        elements = model::element_count(view->shape).value_or(0);
        bytes = view->bytes.size();
      }
    }
    LayerFacts& layer = layers[*spec.layer];
    ++layer.tensors;
    layer.parameters += elements * spec.weights_per_element;
    layer.bytes += bytes;
  });
  return layers;
}

Status read_checkpoint(const model::Checkpoint& checkpoint, const InspectOptions& options,
                       const model::TensorNaming& naming, const model::ReadCallback& progress,
                       InspectReport& report) {
  CheckpointFacts facts;
  facts.shards = checkpoint.shard_count();
  facts.tensors = checkpoint.tensor_count();
  facts.file_bytes = checkpoint.file_bytes();
  facts.data_bytes = checkpoint.data_bytes();
  facts.catalog = model::catalog_check(report.config, naming, checkpoint);
  if (options.verify) {
    DAYBREAK_CHECK_OK(checkpoint.verify(progress));
    facts.verified = true;
  }
  report.checkpoint = std::move(facts);
  return ok();
}

}  // namespace

Status InspectReport::status() const { return checkpoint ? checkpoint->catalog.status() : ok(); }

Result<InspectReport> inspect(const std::filesystem::path& path, const InspectOptions& options,
                              const model::ReadCallback& progress) {
  InspectReport report;
  report.path = path;
  DAYBREAK_TRY(report.config, model::load_config(path));

  std::optional<model::Checkpoint> checkpoint;
  if (std::filesystem::is_directory(path) && holds_weights(path)) {
    DAYBREAK_TRY(checkpoint, model::Checkpoint::open(path));
  } else if (options.verify) {
    return Error{Errc::kInvalidArgument,
                 path.string() +
                     ": --verify needs a directory with model.safetensors or "
                     "model.safetensors.index.json"};
  }
  const model::Checkpoint* files = checkpoint ? &*checkpoint : nullptr;
  const model::TensorNaming naming(report.config, files);
  if (files != nullptr) {
    DAYBREAK_CHECK_OK(read_checkpoint(*files, options, naming, progress, report));
  }
  report.size = model::model_size(report.config, naming, files);
  report.layers = layer_facts(report.config, naming, files);
  const std::uint64_t context =
      options.context > 0 ? options.context
                          : std::min<std::uint64_t>(kDefaultContext, report.config.max_positions);
  DAYBREAK_TRY(report.plan,
               model::plan_memory(report.config, report.size.total.bytes,
                                  {.context = context,
                                   .slots = options.slots,
                                   .checkpoints = options.state_checkpoints,
                                   .format = options.bf16_cache ? model::StateFormat::kBf16
                                                                : model::StateFormat::kF32}));
  report.memory_total = read_machine().usable_memory();
  return report;
}

std::string layer_pattern(const model::ModelConfig& config) {
  std::string letters;
  for (std::size_t i = 0; i < config.layers; ++i) {
    letters += config.is_kda(i) ? 'K' : 'M';
  }
  // The shortest unit that covers most of the layers from the front.
  constexpr std::size_t kMaxUnit = 16;
  std::size_t best_unit = 1;
  std::size_t best_covered = 0;
  for (std::size_t unit = 1; unit <= std::min(kMaxUnit, letters.size()); ++unit) {
    std::size_t covered = unit;
    while (covered + unit <= letters.size() &&
           letters.compare(covered, unit, letters, 0, unit) == 0) {
      covered += unit;
    }
    if (covered >= 2 * unit && covered > best_covered) {
      best_unit = unit;
      best_covered = covered;
    }
  }
  if (best_covered == 0) {
    return letters;
  }
  std::string text = letters.substr(0, best_unit) + " x" + std::to_string(best_covered / best_unit);
  if (best_covered < letters.size()) {
    text += " + " + letters.substr(best_covered);
  }
  return text;
}

}  // namespace daybreak::cli
