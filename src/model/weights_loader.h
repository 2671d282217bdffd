// SPDX-License-Identifier: Apache-2.0
#pragma once

// Binds every tensor that a ModelConfig asks for. The names are those of the released Kimi K3
// ("language_model.model.layers.N...") and Kimi-Linear ("model.layers.N...") checkpoints; which of
// the two is decided by the tensors themselves.

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "model/checkpoint.h"
#include "model/config.h"
#include "model/weights.h"

namespace daybreak::model {

// Layers bound so far, of all layers.
using BindCallback = std::function<void(std::size_t done_layers, std::size_t layers)>;

// Returns weights that view `checkpoint`, which must outlive them. `progress` may be empty.
// Errors: kNotFound  tensors are missing; kCorrupt  shapes or dtypes are wrong. One message names
// up to kMaxNamedProblems of them and counts the rest.
[[nodiscard]] Result<ModelWeights> bind_weights(const ModelConfig& config,
                                                const Checkpoint& checkpoint,
                                                const BindCallback& progress);

}  // namespace daybreak::model
