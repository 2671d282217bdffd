// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `quantization_config` may say. The one format read is compressed-tensors MXFP4 (groups of 32
// with a power-of-two scale each); which tensors use it is decided by the tensors' names, because
// the released `ignore` list does not agree with what was shipped. Internal to the config reader.

#include "model/config_keys.h"

namespace daybreak::model {

// Returns true if `owner` has a quantization_config that asks for MXFP4; records kUnsupported for
// any other scheme.
[[nodiscard]] bool read_quantization(const ConfigKeys& owner);

}  // namespace daybreak::model
