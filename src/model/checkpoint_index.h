// SPDX-License-Identifier: Apache-2.0
#pragma once

// model.safetensors.index.json: which shard of a checkpoint holds which tensor.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::model {

inline constexpr std::size_t kMaxIndexBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxShards = 16384;

struct CheckpointIndex {
  struct Entry {
    std::string tensor;
    std::size_t shard = 0;  // into `shards`
  };
  std::vector<std::string> shards;          // plain file names, ascending, each once
  std::vector<Entry> tensors;               // ascending name, each once
  std::optional<std::uint64_t> total_size;  // metadata.total_size: bytes of all tensors
};

// Errors: kCorrupt   not JSON, a tensor twice, no weight_map, or a shard name that is not a plain
//                    file name (a path would let an index read files outside its directory)
//         kTooLarge  longer than kMaxIndexBytes, or more than kMaxShards
[[nodiscard]] Result<CheckpointIndex> parse_checkpoint_index(std::string_view json,
                                                             std::string_view name);

}  // namespace daybreak::model
