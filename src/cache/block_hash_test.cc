// SPDX-License-Identifier: Apache-2.0
#include "cache/block_hash.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace daybreak::cache {
namespace {

BlockHasher::Key counting_key() {
  BlockHasher::Key key;
  std::iota(key.begin(), key.end(), static_cast<unsigned char>(0));
  return key;
}

std::vector<TokenId> counting_ids(std::size_t count) {
  std::vector<TokenId> ids(count);
  std::iota(ids.begin(), ids.end(), TokenId{0});
  return ids;
}

// Computed with Python's hmac: HMAC-SHA-256 of b"Stenant", then of b"B" + parent + ids, each cut to
// 16 bytes that are read as two little-endian words.
TEST(BlockHash, IsTheOneThatItsDefinitionGives) {
  const auto chain = BlockHasher(counting_key()).chain("tenant", counting_ids(130));
  ASSERT_EQ(chain.size(), 2U);
  EXPECT_EQ(chain[0], (BlockHash{0x5E123338F4ED8F7AULL, 0xA612AFF400AA3B22ULL}));
  EXPECT_EQ(chain[1], (BlockHash{0x9B50644D06D92A7DULL, 0x8009EC845F698AE9ULL}));
}

TEST(BlockHash, CoversEverythingBefore) {
  const BlockHasher hasher(counting_key());
  const std::vector<TokenId> ids = counting_ids(192);
  const auto chain = hasher.chain("a", ids);
  for (std::size_t changed = 0; changed < ids.size(); ++changed) {
    std::vector<TokenId> other = ids;
    other[changed] ^= 1U;
    const auto its = hasher.chain("a", other);
    for (std::size_t block = 0; block < chain.size(); ++block) {
      EXPECT_EQ(its[block] == chain[block], (block + 1) * kBlockTokens <= changed) << changed;
    }
  }
}

TEST(BlockHash, OfAnotherScopeOrKeyIsAnother) {
  const std::vector<TokenId> ids = counting_ids(64);
  BlockHasher::Key key = counting_key();
  std::set<BlockHash> hashes;
  for (const char* scope : {"", "a", "b", "ab"}) {
    hashes.insert(BlockHasher(key).chain(scope, ids)[0]);
  }
  key[31] ^= 1U;
  hashes.insert(BlockHasher(key).chain("a", ids)[0]);
  hashes.insert(BlockHasher::random()->chain("a", ids)[0]);
  hashes.insert(BlockHasher::random()->chain("a", ids)[0]);
  EXPECT_EQ(hashes.size(), 7U);
}

TEST(BlockHash, IncompleteBlocksHaveNone) {
  const BlockHasher hasher(counting_key());
  EXPECT_TRUE(hasher.chain("", counting_ids(63)).empty());
  EXPECT_EQ(hasher.chain("", counting_ids(64)).size(), 1U);
  EXPECT_EQ(hasher.chain("", counting_ids(127)).size(), 1U);
}

TEST(BlockHash, AChainGrowsAsItWouldHaveBeenMade) {
  const BlockHasher hasher(counting_key());
  const std::vector<TokenId> ids = counting_ids(320);
  std::vector<BlockHash> chain = hasher.chain("s", std::span(ids).first(128));
  while (chain.size() < 5) {
    hasher.append(chain, "s", std::span(ids).subspan(64 * chain.size(), 64));
  }
  EXPECT_EQ(chain, hasher.chain("s", ids));
}

}  // namespace
}  // namespace daybreak::cache
