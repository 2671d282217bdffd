// SPDX-License-Identifier: Apache-2.0
#pragma once

// MaskCache: string masks by language and state, bounded by bytes; what was not used for longest
// goes first. An entry that goes stays valid for those who hold it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "grammar/string_masks.h"

namespace daybreak::grammar {

// States that have the same mask, in the form of one of them.
struct MaskKey {
  std::uint64_t language = 0;   // 0: every string, within bounds
  std::uint32_t remaining = 0;  // language 0 only: code points that may follow
  StringState state;            // language 0: chars is what is missing to the least number
  StringCoding coding = StringCoding::kJson;

  friend bool operator==(const MaskKey&, const MaskKey&) = default;
};

// Thread-safe.
class MaskCache {
 public:
  explicit MaskCache(std::size_t max_bytes) : max_shard_bytes_(max_bytes / kShards) {}

  // Returns the mask, or null.
  [[nodiscard]] std::shared_ptr<const StringMask> find(const MaskKey& key);
  // Keeps a mask, unless it alone exceeds the bound. An entry that is there already stays.
  void insert(const MaskKey& key, std::shared_ptr<const StringMask> mask);
  [[nodiscard]] StringMasks::Stats stats() const;

 private:
  static constexpr std::size_t kShards = 8;

  struct Hash {
    std::size_t operator()(const MaskKey& key) const;
  };
  struct Entry {
    MaskKey key;
    std::shared_ptr<const StringMask> mask;
    std::size_t bytes = 0;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::list<Entry> entries;  // last used first
    std::unordered_map<MaskKey, std::list<Entry>::iterator, Hash> index;
    std::size_t bytes = 0;
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
  };

  [[nodiscard]] Shard& shard_of(const MaskKey& key);

  std::size_t max_shard_bytes_;
  std::array<Shard, kShards> shards_;
};

}  // namespace daybreak::grammar
