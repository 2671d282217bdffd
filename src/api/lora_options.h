// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the API needs to serve LoRA adapters.

#include <memory>
#include <string>

#include "engine/adapter_registry.h"

namespace daybreak::api {

struct LoraOptions {
  // The adapters, each a model name of its own. Null: none.
  std::shared_ptr<engine::AdapterRegistry> adapters = nullptr;
  // Where POST /v1/load_lora_adapter may find adapters; empty: adapters do not change while
  // serving.
  std::string directory = {};
};

}  // namespace daybreak::api
