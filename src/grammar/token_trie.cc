// SPDX-License-Identifier: Apache-2.0
#include "grammar/token_trie.h"

#include <algorithm>
#include <cassert>

namespace daybreak::grammar {
namespace {

// Returns the ids that have bytes, ordered by those, equal ones by id.
std::vector<TokenId> sorted_ids(std::span<const std::string_view> tokens) {
  std::vector<TokenId> ids;
  ids.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].empty()) {
      ids.push_back(static_cast<TokenId>(id));
    }
  }
  std::sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
    const int order = tokens[a].compare(tokens[b]);  // as unsigned bytes
    return order != 0 ? order < 0 : a < b;
  });
  return ids;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(differ.first - a.begin());
}

}  // namespace

TokenTrie::TokenTrie(std::span<const std::string_view> tokens)
    : bytes_(1), ends_(1), tokens_(1, kNoToken) {
  assert(tokens.size() < kNoToken);
  std::vector<Node> open{kRoot};  // the path to the last node made
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth + 1; open.pop_back()) {
      ends_[open.back()] = static_cast<Node>(bytes_.size());
    }
  };
  std::string_view last;
  TokenId last_id = kNoToken;
  for (const TokenId id : sorted_ids(tokens)) {
    const std::string_view bytes = tokens[id];
    if (bytes == last) {
      chain_.resize(tokens.size(), kNoToken);
      chain_[last_id] = id;
      last_id = id;
      continue;
    }
    const std::size_t shared = common_prefix(last, bytes);
    close_to(shared);
    for (const char byte : bytes.substr(shared)) {
      open.push_back(static_cast<Node>(bytes_.size()));
      bytes_.push_back(static_cast<std::uint8_t>(byte));
      ends_.push_back(0);
      tokens_.push_back(kNoToken);
    }
    tokens_.back() = id;
    depth_ = std::max(depth_, bytes.size());
    last = bytes;
    last_id = id;
  }
  close_to(0);
  ends_[kRoot] = static_cast<Node>(bytes_.size());
  bytes_.shrink_to_fit();
  ends_.shrink_to_fit();
  tokens_.shrink_to_fit();
  for (Node at = kRoot + 1; at < ends_[kRoot]; at = ends_[at]) {
    first_[bytes_[at]] = at;
  }
}

TokenTrie::Node TokenTrie::child(Node node, std::uint8_t byte) const {
  const Node end = ends_[node];
  for (Node at = node + 1; at < end && bytes_[at] <= byte; at = ends_[at]) {
    if (bytes_[at] == byte) {
      return at;
    }
  }
  return kRoot;
}

}  // namespace daybreak::grammar
