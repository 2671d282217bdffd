// SPDX-License-Identifier: Apache-2.0
#include "grammar/token_trie.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/rng.h"

namespace daybreak::grammar {
namespace {

// Returns every node's byte string by following the documented layout, node 0 first.
std::vector<std::string> paths(const TokenTrie& trie) {
  std::vector<std::string> out(trie.nodes());
  const auto visit = [&](auto&& self, TokenTrie::Node node) -> void {
    for (TokenTrie::Node at = node + 1; at < trie.end(node); at = trie.end(at)) {
      out[at] = out[node] + static_cast<char>(trie.byte(at));
      self(self, at);
    }
  };
  visit(visit, TokenTrie::kRoot);
  return out;
}

TEST(TokenTrie, IsInDepthFirstOrder) {
  const std::vector<std::string_view> tokens{"b", "", "ab", "a", "abc", "ad"};
  const TokenTrie trie(tokens);
  EXPECT_EQ(paths(trie), (std::vector<std::string>{"", "a", "ab", "abc", "ad", "b"}));
  EXPECT_EQ(trie.token(0), TokenTrie::kNoToken);
  EXPECT_EQ(trie.token(1), 3U);
  EXPECT_EQ(trie.token(2), 2U);
  EXPECT_EQ(trie.token(3), 4U);
  EXPECT_EQ(trie.token(4), 5U);
  EXPECT_EQ(trie.token(5), 0U);
  EXPECT_EQ(trie.end(0), 6U);
  EXPECT_EQ(trie.end(1), 5U);
  EXPECT_EQ(trie.depth(), 3U);
  EXPECT_EQ(trie.child(1, 'd'), 4U);
  EXPECT_EQ(trie.child(1, 'c'), TokenTrie::kRoot);
  EXPECT_EQ(trie.child(0, 'z'), TokenTrie::kRoot);
  EXPECT_EQ(trie.child(5, 'a'), TokenTrie::kRoot);
}

TEST(TokenTrie, OfNothingIsARoot) {
  const TokenTrie trie({});
  EXPECT_EQ(trie.nodes(), 1U);
  EXPECT_EQ(trie.end(0), 1U);
  EXPECT_EQ(trie.depth(), 0U);
  EXPECT_EQ(trie.child(0, 'a'), TokenTrie::kRoot);
}

TEST(TokenTrie, ChainsEqualBytes) {
  const std::vector<std::string_view> tokens{"x", "y", "x", "x"};
  const TokenTrie trie(tokens);
  EXPECT_EQ(trie.nodes(), 3U);
  EXPECT_EQ(trie.token(1), 0U);
  EXPECT_EQ(trie.same_bytes(0), 2U);
  EXPECT_EQ(trie.same_bytes(2), 3U);
  EXPECT_EQ(trie.same_bytes(3), TokenTrie::kNoToken);
  EXPECT_EQ(trie.same_bytes(1), TokenTrie::kNoToken);
}

// Bytes above 0x7F sort after ASCII whatever the sign of char.
TEST(TokenTrie, FindsRandomTokens) {
  Rng rng(7);
  const std::string alphabet("a\x00\x7F\x80\xFF\"", 6);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> strings(rng.below(60));
    for (std::string& s : strings) {
      for (std::uint32_t left = rng.below(5); left > 0; --left) {
        s += alphabet[rng.below(6)];
      }
    }
    const std::vector<std::string_view> views(strings.begin(), strings.end());
    const TokenTrie trie(views);
    const std::vector<std::string> nodes = paths(trie);
    EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
    std::map<std::string, std::vector<TokenId>> expected;
    for (std::size_t id = 0; id < strings.size(); ++id) {
      expected[strings[id]].push_back(static_cast<TokenId>(id));
    }
    for (TokenTrie::Node node = 1; node < trie.nodes(); ++node) {
      std::vector<TokenId> ids;
      for (TokenId id = trie.token(node); id != TokenTrie::kNoToken; id = trie.same_bytes(id)) {
        ids.push_back(id);
      }
      EXPECT_EQ(ids,
                expected.contains(nodes[node]) ? expected[nodes[node]] : std::vector<TokenId>{});
    }
    for (const std::string& s : strings) {
      TokenTrie::Node node = TokenTrie::kRoot;
      for (const char byte : s) {
        node = trie.child(node, static_cast<std::uint8_t>(byte));
      }
      EXPECT_EQ(nodes[node], s);
    }
  }
}

}  // namespace
}  // namespace daybreak::grammar
