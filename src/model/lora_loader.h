// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a LoRA adapter as Hugging Face PEFT saves it: a directory with adapter_config.json and
// adapter_model.safetensors, whose tensors are named
// "base_model.model.[language_model.]MODULE.lora_A.weight" and "...lora_B.weight", MODULE being
// the path of the module in the checkpoint.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "model/lora_adapter.h"
#include "model/model.h"

namespace daybreak::model {

// Returns the adapter, which owns all of its memory: nothing reads the files later. `name` is what
// it is called. Thread-safe.
// Errors name the file and the key or tensor:
//   kNotFound         a file is missing
//   kInvalidArgument  the configuration, see parse_lora_config(); a tensor of no linear module of
//                     this model, twice, without its other half, of another shape or type than the
//                     model and the configuration ask for, or with a value that is not finite
//   kUnsupported      a method or a module that is not computed here: routed experts, router,
//                     embedding, head
//   kCorrupt, kTooLarge  as parse_safetensors_header()
//   kResourceLimit    no memory
[[nodiscard]] Result<LoraAdapterPtr> load_lora(const Model& model, const std::filesystem::path& dir,
                                               std::string name);

}  // namespace daybreak::model
