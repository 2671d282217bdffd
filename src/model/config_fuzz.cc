// SPDX-License-Identifier: Apache-2.0
// Any bytes as config.json: refused or read, never a crash, and what is read is consistent.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = daybreak::model::parse_config(text, "config.json");
  if (!config) {
    if (config.error().message.empty()) {
      std::abort();
    }
    return 0;
  }
  if (config->kda_layers.size() != config->layers || config->hidden_size == 0 ||
      config->moe_layer_count() > config->layers) {
    std::abort();
  }
  return 0;
}
