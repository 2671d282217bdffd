// SPDX-License-Identifier: Apache-2.0
#pragma once

// Other spellings of a JSON text: compact, or with escapes where none were needed. The value stays
// the same, which is what a grammar over decoded strings has to see.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_tree.h"
#include "base/rng.h"
#include "base/token.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

// Returns the value without white space outside strings, members in their order, numbers as they
// were spelled, strings with no more escapes than necessary.
[[nodiscard]] std::string compact_json(const JsonNode& node);

// Returns the same value, compact, in which each character of strings and keys is an escape
// (\u0061, \/, a surrogate pair) `percent` times out of a hundred. Duplicate members are lost.
// REQUIRES: `text` is JSON that parse_json_tree reads.
[[nodiscard]] std::string respell(std::string_view text, Rng& rng, std::uint32_t percent);

// Returns some way to write `text` as tokens of `trie`, every way possible; nothing if there is
// none.
[[nodiscard]] std::optional<std::vector<TokenId>> random_tokens(std::string_view text,
                                                                const TokenTrie& trie, Rng& rng);

// Returns whether an object anywhere in the tree was given a key twice.
[[nodiscard]] bool has_duplicate_keys(const JsonNode& node);

}  // namespace daybreak::grammar
