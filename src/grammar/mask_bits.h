// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bits of a mask row: id's bit is bit id % 32 of word id / 32.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/token.h"
#include "grammar/string_masks.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

inline void set_bit(std::span<std::uint32_t> row, TokenId id) { row[id / 32] |= 1U << (id % 32); }
inline void clear_bit(std::span<std::uint32_t> row, TokenId id) {
  row[id / 32] &= ~(1U << (id % 32));
}

// Sets the bits of all tokens whose bytes lead to `node`.
inline void set_token(const TokenTrie& trie, TokenTrie::Node node, std::span<std::uint32_t> row) {
  for (TokenId id = trie.token(node); id != TokenTrie::kNoToken; id = trie.same_bytes(id)) {
    set_bit(row, id);
  }
}

// Adds the tokens that end inside the string.
inline void add_inside(const StringMask& mask, std::span<std::uint32_t> row) {
  if (mask.row != nullptr) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] |= (*mask.row)[i];
    }
  }
  for (const TokenId id : mask.list) {
    set_bit(row, id);
  }
}

}  // namespace daybreak::grammar
