// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a Checkpoint holds. Internal: shared by checkpoint.cc (lookup) and checkpoint_verify.cc
// (reading everything).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"

namespace daybreak::model {

struct Shard {
  std::string name;  // without the directory
  MappedFile file;
  SafetensorsHeader header;
};

struct Located {
  const TensorEntry* entry = nullptr;  // into a shard's header
  std::size_t shard = 0;
};

struct Checkpoint::Impl {
  std::filesystem::path dir;
  std::vector<Shard> shards;     // not changed once `by_name` points into them
  std::vector<Located> by_name;  // ascending name
  std::optional<std::uint64_t> index_total_size;
};

}  // namespace daybreak::model
