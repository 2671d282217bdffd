// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of the beginnings of sequences. A sequence is cut into blocks of 64 ids; the hash of a
// block is keyed and covers all before it, so that equal hashes mean equal beginnings, and nobody
// outside can make two beginnings collide. What else a state depends on (tenant, adapter, pictures)
// is the scope: equal ids in different scopes share nothing.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::cache {

inline constexpr std::size_t kBlockTokens = 64;

// The first 128 bits of HMAC-SHA-256.
struct BlockHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const BlockHash&, const BlockHash&) = default;
};

struct BlockHashHash {
  std::size_t operator()(const BlockHash& hash) const { return hash.low; }  // is uniform
};

// Thread-safe once made.
class BlockHasher {
 public:
  using Key = std::array<unsigned char, 32>;

  // Hashes of different keys have nothing to do with each other.
  explicit BlockHasher(const Key& key) : key_(key) {}
  // With a key that nobody knows. Errors: kIo if the system has no entropy.
  [[nodiscard]] static Result<BlockHasher> random();

  // Both throw std::bad_alloc without memory.
  // Returns the hashes of the complete blocks among `ids`, each of all ids up to its end.
  [[nodiscard]] std::vector<BlockHash> chain(std::string_view scope,
                                             std::span<const TokenId> ids) const;
  // Appends the hash of the next block, of kBlockTokens ids.
  void append(std::vector<BlockHash>& chain, std::string_view scope,
              std::span<const TokenId> block) const;

 private:
  [[nodiscard]] BlockHash hash(std::span<const unsigned char> bytes) const;
  [[nodiscard]] BlockHash root(std::string_view scope) const;
  [[nodiscard]] BlockHash next(const BlockHash& parent, std::span<const TokenId> block) const;

  Key key_;
};

}  // namespace daybreak::cache
