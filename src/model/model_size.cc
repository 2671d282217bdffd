// SPDX-License-Identifier: Apache-2.0
#include "model/model_size.h"

namespace daybreak::model {
namespace {

void add(SizeCount& to, const SizeCount& count) {
  to.tensors += count.tensors;
  to.parameters += count.parameters;
  to.elements += count.elements;
  to.bytes += count.bytes;
}

std::uint64_t active_of(const ModelSize& size, const ModelConfig& config) {
  const auto parameters = [&](TensorRole role) { return size.of(role).parameters; };
  std::uint64_t active = size.total.parameters - parameters(TensorRole::kVisionTower) -
                         parameters(TensorRole::kProjector) -
                         parameters(TensorRole::kRoutedExperts);
  if (!config.tie_word_embeddings) {
    active -= parameters(TensorRole::kEmbedding);  // a tied one is multiplied with as the head
  }
  if (config.moe) {
    // Experts are of one size, so this division is exact.
    active += parameters(TensorRole::kRoutedExperts) / config.moe->experts *
              config.moe->experts_per_token;
  }
  return active;
}

}  // namespace

ModelSize model_size(const ModelConfig& config, const TensorNaming& naming,
                     const Checkpoint* checkpoint) {
  ModelSize size;
  for_each_tensor(config, naming, [&](const TensorSpec& spec) {
    DType dtype = spec.dtype;
    SizeCount count{.tensors = 1,
                    .parameters = 0,
                    .elements = element_count(spec.shape).value_or(0),
                    .bytes = byte_count(dtype, spec.shape).value_or(0)};
    if (checkpoint != nullptr) {
      if (const auto view = checkpoint->tensor(spec.name)) {
        dtype = view->dtype;
        count.elements = element_count(view->shape).value_or(0);
        count.bytes = view->bytes.size();
      }
    }
    count.parameters = count.elements * spec.weights_per_element;
    add(size.total, count);
    add(size.by_role[static_cast<std::size_t>(spec.role)], count);
    add(size.by_dtype[static_cast<std::size_t>(dtype)], count);
  });
  size.active_parameters = active_of(size, config);
  return size;
}

}  // namespace daybreak::model
