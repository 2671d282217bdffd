// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tests of the prefix tree share: blocks named by letters.

#include <memory>
#include <string_view>
#include <vector>

#include "cache/prefix_tree.h"

namespace daybreak::cache::testing {

class StillClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  void forward(std::chrono::milliseconds by) { now_ += by; }

 private:
  TimePoint now_{};
};

inline HeldPtr held() { return std::make_shared<const int>(0); }

// The ids of a sequence whose blocks are the letters of `path`.
inline std::vector<TokenId> ids_of(std::string_view path) {
  std::vector<TokenId> ids;
  for (const char letter : path) {
    ids.insert(ids.end(), kBlockTokens, static_cast<TokenId>(letter));
  }
  return ids;
}
// Their hashes.
inline std::vector<BlockHash> chain_of(std::string_view path) {
  static const BlockHasher hasher{BlockHasher::Key{}};
  return hasher.chain("", ids_of(path));
}

}  // namespace daybreak::cache::testing
