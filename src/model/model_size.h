// SPDX-License-Identifier: Apache-2.0
#pragma once

// How large a model is: parameters by purpose, those one token uses, stored bytes by element type.

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/checkpoint.h"
#include "model/config.h"
#include "model/dtype.h"
#include "model/tensor_catalog.h"

namespace daybreak::model {

struct SizeCount {
  std::uint64_t tensors = 0;
  std::uint64_t parameters = 0;  // weights; a packed byte is two, a scale none
  std::uint64_t elements = 0;    // as stored
  std::uint64_t bytes = 0;
};

struct ModelSize {
  SizeCount total;
  std::array<SizeCount, kTensorRoleCount> by_role{};
  std::array<SizeCount, kDTypeCount> by_dtype{};
  // Weights that one text token multiplies with: all attention, dense and shared parts, the head
  // and experts_per_token of the experts; not the row looked up in the embedding, nor vision.
  std::uint64_t active_parameters = 0;

  [[nodiscard]] const SizeCount& of(TensorRole role) const {
    return by_role[static_cast<std::size_t>(role)];
  }
};

// Counts what `config` asks for. With a checkpoint, sizes and element types are those of its files
// (a tensor that is missing counts as released); without one, those of the released checkpoints.
[[nodiscard]] ModelSize model_size(const ModelConfig& config, const TensorNaming& naming,
                                   const Checkpoint* checkpoint);

}  // namespace daybreak::model
