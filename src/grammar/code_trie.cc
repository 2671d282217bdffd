// SPDX-License-Identifier: Apache-2.0
#include "grammar/code_trie.h"

#include <algorithm>

namespace daybreak::grammar {

CodeTrie::CodeTrie(std::vector<Entry> entries) {
  if (!std::ranges::is_sorted(entries)) {
    std::ranges::sort(entries);
  }
  std::vector<std::uint32_t> open;  // the path to the last node made
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      nodes_[open.back()].end = static_cast<std::uint32_t>(nodes_.size());
    }
  };
  std::u32string_view last;
  for (const auto& [sequence, item] : entries) {
    const auto differ = std::ranges::mismatch(last, sequence);
    auto shared = static_cast<std::size_t>(differ.in1 - last.begin());
    // An equal sequence gets a node of its own: the last one is a leaf, so nothing is below it.
    shared = std::min(shared, sequence.size() - 1);
    close_to(shared);
    for (std::size_t at = shared; at < sequence.size(); ++at) {
      open.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({static_cast<std::uint32_t>(sequence[at]), static_cast<std::uint32_t>(at)});
    }
    nodes_.back().item = item;
    depth_ = std::max(depth_, sequence.size());
    last = sequence;
  }
  close_to(0);
  nodes_.shrink_to_fit();
}

}  // namespace daybreak::grammar
