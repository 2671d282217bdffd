// SPDX-License-Identifier: Apache-2.0
#pragma once

// CodeTrie: sequences of code points as a trie in depth-first order, for walking it together with
// an automaton in one pass. Immutable after building.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::grammar {

class CodeTrie {
 public:
  static constexpr std::uint32_t kNoItem = 0xFFFFFFFF;

  struct Node {
    std::uint32_t code_point = 0;
    std::uint32_t depth = 0;  // of the parent: 0 for the first code point of a sequence
    std::uint32_t end = 0;    // index behind the subtree
    std::uint32_t item = kNoItem;
  };

  // A sequence and what it stands for.
  using Entry = std::pair<std::u32string, std::uint32_t>;

  CodeTrie() = default;
  // REQUIRES: no sequence is empty. Equal sequences get sibling nodes of the same code point.
  explicit CodeTrie(std::vector<Entry> entries);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }  // of the longest sequence

 private:
  std::vector<Node> nodes_;
  std::size_t depth_ = 0;
};

}  // namespace daybreak::grammar
