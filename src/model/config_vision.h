// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads `vision_config`. Internal to the config reader.

#include "model/config.h"
#include "model/config_keys.h"

namespace daybreak::model {

// Returns the vision tower's sizes; problems are recorded in `keys`.
// REQUIRES: hidden_size is the text model's, which the projector must produce.
[[nodiscard]] VisionConfig read_vision(const ConfigKeys& keys, std::size_t hidden_size);

}  // namespace daybreak::model
