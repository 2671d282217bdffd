// SPDX-License-Identifier: Apache-2.0
#include "grammar/mask_cache.h"

#include <iterator>
#include <utility>

#include "base/hash.h"

namespace daybreak::grammar {
namespace {

// The list node, the index node and the control block of an entry.
constexpr std::size_t kEntryOverhead = 256;

}  // namespace

std::size_t MaskCache::Hash::operator()(const MaskKey& key) const {
  const StringState& state = key.state;
  const std::uint64_t counts = std::uint64_t{state.state} << 32 | state.chars;
  const std::uint64_t rest = std::uint64_t{key.remaining} << 32 | state.partial;
  const auto small = static_cast<std::uint64_t>(key.coding) << 16 |
                     static_cast<std::uint64_t>(state.phase) << 8 | state.missing;
  return mix64(mix64(mix64(key.language ^ small << 40) ^ counts) ^ rest);
}

MaskCache::Shard& MaskCache::shard_of(const MaskKey& key) {
  return shards_[(Hash{}(key) >> 56) % kShards];  // the map uses the lower bits
}

std::shared_ptr<const StringMask> MaskCache::find(const MaskKey& key) {
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  const auto found = shard.index.find(key);
  if (found == shard.index.end()) {
    ++shard.misses;
    return nullptr;
  }
  ++shard.hits;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->mask;
}

void MaskCache::insert(const MaskKey& key, std::shared_ptr<const StringMask> mask) {
  const std::size_t bytes = mask->bytes() + kEntryOverhead;
  if (bytes > max_shard_bytes_) {
    return;
  }
  std::list<Entry> dropped;  // freed after the lock
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  if (shard.index.contains(key)) {
    return;
  }
  shard.entries.push_front({key, std::move(mask), bytes});
  shard.index.emplace(key, shard.entries.begin());
  shard.bytes += bytes;
  while (shard.bytes > max_shard_bytes_) {
    shard.bytes -= shard.entries.back().bytes;
    shard.index.erase(shard.entries.back().key);
    dropped.splice(dropped.begin(), shard.entries, std::prev(shard.entries.end()));
  }
}

StringMasks::Stats MaskCache::stats() const {
  StringMasks::Stats stats;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    stats.hits += shard.hits;
    stats.misses += shard.misses;
    stats.entries += shard.entries.size();
    stats.bytes += shard.bytes;
  }
  return stats;
}

}  // namespace daybreak::grammar
