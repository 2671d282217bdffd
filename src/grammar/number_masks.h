// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumberMasks: the tokens that go on inside a number. Any number has about a thousand of them (all
// groups of digits), the same for every integer schema; they are kept per (lexer, state), bounded,
// for all grammars of one vocabulary.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/token.h"
#include "grammar/number_lexer.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

// Returns whether a number may hold the byte.
[[nodiscard]] constexpr bool is_number_byte(std::uint8_t byte) {
  return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' || byte == 'e' ||
         byte == 'E';
}

// Thread-safe.
class NumberMasks {
 public:
  using Ids = std::vector<TokenId>;

  // tokens[i] are the bytes of id i. `cache_bytes` bounds what is kept.
  NumberMasks(std::span<const std::string_view> tokens, std::size_t cache_bytes);

  // Returns the tokens of number bytes alone after which the number can be completed.
  // `point`: whether an integer may have one.
  enum class Point : bool { kNo, kYes };
  [[nodiscard]] std::shared_ptr<const Ids> find(const std::shared_ptr<const NumberLexer>& lexer,
                                                const NumberState& state, Point point);

  // Tokens that end a number and go on (digits, then another byte), and those too long for equal
  // states to have an equal future. To be looked at one by one.
  [[nodiscard]] std::span<const TokenId> crossing() const { return crossing_; }

 private:
  struct Key {
    const NumberLexer* lexer;
    NumberState state;
    Point point;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Entry {
    std::shared_ptr<const NumberLexer> lexer;  // alive, so that its address stays its own
    std::shared_ptr<const Ids> ids;
    std::list<Key>::iterator age;
  };

  void collect(const NumberLexer& lexer, const NumberState& state, Point point,
               TokenTrie::Node node, Ids& ids) const;

  std::vector<TokenId> crossing_;
  std::unique_ptr<TokenTrie> trie_;  // of the tokens of number bytes alone
  const std::size_t cache_bytes_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Key> ages_;  // the least recently used last
  std::unordered_map<Key, Entry, Hash> entries_;
};

}  // namespace daybreak::grammar
