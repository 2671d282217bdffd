// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <algorithm>
#include <utility>

#include "model/forward_pass.h"
#include "model/tensor_catalog.h"

namespace daybreak::model {
namespace {

// Two checkpoints of one shape differ in their embedding and head long before their bytes could
// collide here; a whole pass over 1.5 TB would cost minutes.
std::uint64_t sample_fingerprint(const ModelWeights& weights) {
  constexpr std::size_t kSampleBytes = 4096;
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const MatrixView& w) {
    const std::size_t bytes = w.rows * kernels::bytes_per_row(w.format, w.cols);
    for (std::size_t i = 0; i < std::min(bytes, kSampleBytes); ++i) {
      hash = (hash ^ std::to_integer<std::uint64_t>(w.data[bytes - 1 - i])) * 0x100000001b3u;
    }
  };
  add(weights.embedding);
  add(weights.lm_head);
  for (const LayerWeights& layer : weights.layers) {
    if (const auto* kda = std::get_if<KdaWeights>(&layer.attention)) {
      add(kda->o);
    } else {
      add(std::get<MlaWeights>(layer.attention).o);
    }
  }
  return hash;
}

}  // namespace

Model::Model(Key /*key*/, ModelConfig config, Checkpoint checkpoint, ModelWeights weights)
    : config_(std::move(config)),
      checkpoint_(std::move(checkpoint)),
      weights_(std::move(weights)),
      weights_fingerprint_(sample_fingerprint(weights_)),
      layout_(StateLayout::from(config_, weights_fingerprint_)) {}

Model::~Model() = default;

Result<std::unique_ptr<Model>> Model::load(const std::filesystem::path& dir,
                                           const LoadOptions& options) {
  DAYBREAK_TRY(ModelConfig config, load_config(dir));
  DAYBREAK_TRY(Checkpoint checkpoint, Checkpoint::open(dir));
  DAYBREAK_TRY(ModelWeights weights, bind_weights(config, checkpoint, options.on_bind));
  DAYBREAK_CHECK_OK(refuse_left_over(config, TensorNaming(config, &checkpoint), checkpoint));
  if (options.on_read) {
    DAYBREAK_CHECK_OK(checkpoint.read_through(options.on_read));
  }
  return std::make_unique<Model>(Key{}, std::move(config), std::move(checkpoint),
                                 std::move(weights));
}

Status Model::forward(std::span<Chunk> chunks, Workspace& workspace, ThreadTeam& team) const {
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const LoraAdapter* const adapter = chunks[i].adapter;
    if (adapter != nullptr && adapter->weights_fingerprint() != weights_fingerprint_) {
      return Error{Errc::kInvalidArgument, "chunk " + std::to_string(i) + ": its adapter '" +
                                               adapter->name() + "' was loaded for another model"};
    }
  }
  return ForwardPass(config_, weights_, layout_, workspace, team).run(chunks);
}

}  // namespace daybreak::model
