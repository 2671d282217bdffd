// SPDX-License-Identifier: Apache-2.0
#pragma once

// An adapter without matrices, for FakeModel, to which its digest is all there is. Test code only.

#include <memory>
#include <string>
#include <utility>

#include "engine/generator.h"
#include "model/lora_adapter.h"

namespace daybreak::engine {

inline AdapterPtr fake_adapter(std::string name, std::string digest) {
  return std::make_shared<const model::LoraAdapter>(
      model::LoraAdapter::Parts{.name = std::move(name),
                                .digest = std::move(digest),
                                .weights_fingerprint = 0,
                                .layers = {},
                                .memory = {}});
}

}  // namespace daybreak::engine
