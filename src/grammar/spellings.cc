// SPDX-License-Identifier: Apache-2.0
#include "grammar/spellings.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

bool may_become(const StringState& state, std::uint32_t code_point) {
  return std::ranges::any_of(completions(state), [&](const CharRange& range) {
    return range.low <= code_point && code_point <= range.high;
  });
}

void sort_unique(std::vector<TokenId>& ids) {
  std::ranges::sort(ids);
  const auto doubles = std::ranges::unique(ids);
  ids.erase(doubles.begin(), doubles.end());
}

}  // namespace

class SpellingIndex::Search {
 public:
  Search(const SpellingIndex& index, Spellings& found, std::size_t text)
      : index_(index), trie_(index.trie_), found_(found), text_(text) {}

  // `at` code points of `rest` have been read.
  void below(TokenTrie::Node node, const StringState& state, const std::vector<std::uint32_t>& rest,
             std::size_t at) {
    if (state.phase != StringPhase::kPlain) {
      for (TokenTrie::Node child = node + 1; child < trie_.end(node); child = trie_.end(child)) {
        byte_by_byte(child, state, rest, at);
      }
      return;
    }
    if (const TokenTrie::Node escape = child_of(node, '\\'); escape != TokenTrie::kRoot) {
      byte_by_byte(escape, state, rest, at);
    }
    if (at == rest.size()) {
      if (const TokenTrie::Node quote = child_of(node, '"'); quote != TokenTrie::kRoot) {
        found_.closing.push_back({quote, text_});
      }
      return;
    }
    if (rest[at] == '"' || rest[at] == '\\' || rest[at] < 0x20) {
      return;  // only as an escape
    }
    std::string bytes;
    append_utf8(rest[at], bytes);
    for (const char byte : bytes) {
      node = child_of(node, static_cast<std::uint8_t>(byte));
      if (node == TokenTrie::kRoot) {
        return;
      }
      add(node);
    }
    below(node, state, rest, at + 1);
  }

 private:
  void byte_by_byte(TokenTrie::Node child, const StringState& state,
                    const std::vector<std::uint32_t>& rest, std::size_t at) {
    StringState next = state;
    const DecodedByte decoded = decode_byte(StringCoding::kJson, next, trie_.byte(child));
    const bool goes_on = decoded.kind == DecodedByte::Kind::kCodePoint
                             ? at < rest.size() && rest[at] == decoded.code_point
                             : decoded.kind == DecodedByte::Kind::kUnfinished && at < rest.size() &&
                                   may_become(next, rest[at]);
    if (goes_on) {
      add(child);
      below(child, next, rest, at + (decoded.kind == DecodedByte::Kind::kCodePoint ? 1 : 0));
    }
  }

  [[nodiscard]] TokenTrie::Node child_of(TokenTrie::Node node, std::uint8_t byte) const {
    return node == TokenTrie::kRoot ? index_.first_[byte] : trie_.child(node, byte);
  }

  void add(TokenTrie::Node node) {
    for (TokenId id = trie_.token(node); id != TokenTrie::kNoToken; id = trie_.same_bytes(id)) {
      found_.inside.push_back(id);
    }
  }

  const SpellingIndex& index_;
  const TokenTrie& trie_;
  Spellings& found_;
  const std::size_t text_;
};

SpellingIndex::SpellingIndex(const TokenTrie& trie) : trie_(trie) {
  for (TokenTrie::Node child = 1; child < trie.end(TokenTrie::kRoot); child = trie.end(child)) {
    first_[trie.byte(child)] = child;
  }
}

Spellings SpellingIndex::find(const StringState& state,
                              const std::vector<std::vector<std::uint32_t>>& rests) const {
  Spellings found;
  for (std::size_t text = 0; text < rests.size(); ++text) {
    Search(*this, found, text).below(TokenTrie::kRoot, state, rests[text], 0);
  }
  sort_unique(found.inside);
  return found;
}

}  // namespace daybreak::grammar
