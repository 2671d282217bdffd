// SPDX-License-Identifier: Apache-2.0
#pragma once

// TokenTrie: the byte strings of a vocabulary as a trie in depth-first order. Node n's first child
// is n + 1 unless end(n) == n + 1 (a leaf), its next sibling is end(n); children stand in ascending
// order of their byte. Node 0 is the empty string. Immutable, thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/token.h"

namespace daybreak::grammar {

class TokenTrie {
 public:
  using Node = std::uint32_t;
  static constexpr TokenId kNoToken = std::numeric_limits<TokenId>::max();
  static constexpr Node kRoot = 0;

  // tokens[i] are the bytes of id i; an empty one is left out. Distinct ids with equal bytes: every
  // one but the first is chained, see same_bytes().
  explicit TokenTrie(std::span<const std::string_view> tokens);

  [[nodiscard]] std::size_t nodes() const { return bytes_.size(); }
  [[nodiscard]] std::uint8_t byte(Node node) const { return bytes_[node]; }  // not of the root
  [[nodiscard]] Node end(Node node) const { return ends_[node]; }
  // Returns the id whose bytes lead here, or kNoToken.
  [[nodiscard]] TokenId token(Node node) const { return tokens_[node]; }
  // Returns the next id with the same bytes, or kNoToken.
  [[nodiscard]] TokenId same_bytes(TokenId id) const {
    return chain_.empty() ? kNoToken : chain_[id];
  }
  // Returns the child of `node` for `byte`, or kRoot if there is none.
  [[nodiscard]] Node child(Node node, std::uint8_t byte) const;
  // The same for the root, at once.
  [[nodiscard]] Node first(std::uint8_t byte) const { return first_[byte]; }
  [[nodiscard]] std::size_t depth() const { return depth_; }  // bytes of the longest token

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<Node> ends_;
  std::vector<TokenId> tokens_;
  std::vector<TokenId> chain_;     // empty unless two ids share their bytes
  std::array<Node, 256> first_{};  // children of the root; kRoot: none
  std::size_t depth_ = 0;
};

}  // namespace daybreak::grammar
