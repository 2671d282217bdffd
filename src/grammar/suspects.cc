// SPDX-License-Identifier: Apache-2.0
#include "grammar/suspects.h"

#include <algorithm>

namespace daybreak::grammar {
namespace {

class Search {
 public:
  Search(const TokenTrie& trie, std::vector<TokenId>& found) : trie_(trie), found_(found) {}

  // `at` code points of `rest` have been read.
  void below(TokenTrie::Node node, const StringState& state, const std::vector<std::uint32_t>& rest,
             std::size_t at) {
    for (TokenTrie::Node child = node + 1; child < trie_.end(node); child = trie_.end(child)) {
      StringState next = state;
      const DecodedByte decoded = decode_byte(StringCoding::kJson, next, trie_.byte(child));
      switch (decoded.kind) {
        case DecodedByte::Kind::kInvalid:
          break;
        case DecodedByte::Kind::kQuote:
          if (at == rest.size()) {
            add_all(child);
          }
          break;
        case DecodedByte::Kind::kUnfinished:
          add(child);
          below(child, next, rest, at);
          break;
        case DecodedByte::Kind::kCodePoint:
          if (at < rest.size() && rest[at] == decoded.code_point) {
            add(child);
            below(child, next, rest, at + 1);
          }
          break;
      }
    }
  }

 private:
  void add(TokenTrie::Node node) {
    for (TokenId id = trie_.token(node); id != TokenTrie::kNoToken; id = trie_.same_bytes(id)) {
      found_.push_back(id);
    }
  }
  void add_all(TokenTrie::Node node) {
    for (TokenTrie::Node at = node; at < trie_.end(node); ++at) {
      add(at);
    }
  }

  const TokenTrie& trie_;
  std::vector<TokenId>& found_;
};

}  // namespace

std::vector<TokenId> suspects(const TokenTrie& trie, const StringState& state,
                              const std::vector<std::vector<std::uint32_t>>& rests) {
  std::vector<TokenId> found;
  Search search(trie, found);
  for (const auto& rest : rests) {
    search.below(TokenTrie::kRoot, state, rest, 0);
  }
  std::ranges::sort(found);
  const auto doubles = std::ranges::unique(found);
  found.erase(doubles.begin(), doubles.end());
  return found;
}

}  // namespace daybreak::grammar
