// SPDX-License-Identifier: Apache-2.0
// Any bytes as adapter_config.json: refused or read, never a crash, and what is read is in range.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/lora_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = daybreak::model::parse_lora_config(text, "adapter_config.json");
  if (!config) {
    if (config.error().message.empty()) {
      std::abort();
    }
    return 0;
  }
  for (const std::string_view path : {"", ".", "model.layers.0.self_attn.q_proj", "q_proj"}) {
    const std::size_t rank = config->rank_of(path);
    if (rank < 1 || rank > daybreak::model::kMaxLoraRank ||
        !std::isfinite(config->scale_of(path))) {
      std::abort();
    }
    (void)config->targets_module(path);
  }
  return 0;
}
