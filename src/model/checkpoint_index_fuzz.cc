// SPDX-License-Identifier: Apache-2.0
// Any bytes as model.safetensors.index.json: refused or read, and no shard name leaves its
// directory.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/checkpoint_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto index = daybreak::model::parse_checkpoint_index(text, "i.json");
  if (!index) {
    return 0;
  }
  for (const auto& shard : index->shards) {
    if (shard.empty() || shard == ".." || shard.find('/') != std::string::npos) {
      std::abort();
    }
  }
  for (const auto& entry : index->tensors) {
    if (entry.shard >= index->shards.size()) {
      std::abort();
    }
  }
  return 0;
}
