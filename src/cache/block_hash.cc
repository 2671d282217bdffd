// SPDX-License-Identifier: Apache-2.0
#include "cache/block_hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>
#include <new>
#include <string>

namespace daybreak::cache {
namespace {

static_assert(sizeof(TokenId) == 4);

// The two kinds of input begin with different letters, so that no scope looks like a block.
constexpr unsigned char kScopeLetter = 'S';
constexpr unsigned char kBlockLetter = 'B';

}  // namespace

Result<BlockHasher> BlockHasher::random() {
  Key key;
  if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1) {
    return Error{Errc::kIo, "the system's random generator gives nothing for the cache's key"};
  }
  return BlockHasher(key);
}

BlockHash BlockHasher::hash(std::span<const unsigned char> bytes) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes.data(), bytes.size(),
           digest.data(), &size) == nullptr) {
    throw std::bad_alloc();  // the only reason there can be
  }
  BlockHash out;
  std::memcpy(&out.high, digest.data(), sizeof(out.high));
  std::memcpy(&out.low, digest.data() + sizeof(out.high), sizeof(out.low));
  return out;
}

BlockHash BlockHasher::root(std::string_view scope) const {
  std::string bytes(1, static_cast<char>(kScopeLetter));
  bytes += scope;
  return hash({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

BlockHash BlockHasher::next(const BlockHash& parent, std::span<const TokenId> block) const {
  std::array<unsigned char, 1 + 2 * sizeof(std::uint64_t) + kBlockTokens * sizeof(TokenId)> bytes;
  bytes[0] = kBlockLetter;
  std::memcpy(bytes.data() + 1, &parent.high, sizeof(parent.high));
  std::memcpy(bytes.data() + 9, &parent.low, sizeof(parent.low));
  std::memcpy(bytes.data() + 17, block.data(), kBlockTokens * sizeof(TokenId));
  return hash(bytes);
}

std::vector<BlockHash> BlockHasher::chain(std::string_view scope,
                                          std::span<const TokenId> ids) const {
  std::vector<BlockHash> out;
  out.reserve(ids.size() / kBlockTokens);
  while (out.size() < ids.size() / kBlockTokens) {
    append(out, scope, ids.subspan(out.size() * kBlockTokens, kBlockTokens));
  }
  return out;
}

void BlockHasher::append(std::vector<BlockHash>& chain, std::string_view scope,
                         std::span<const TokenId> block) const {
  chain.push_back(next(chain.empty() ? root(scope) : chain.back(), block));
}

}  // namespace daybreak::cache
