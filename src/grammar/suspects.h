// SPDX-License-Identifier: Apache-2.0
#pragma once

// Suspects: the few tokens that could repeat a text which must not be repeated (a key of the same
// object, a string of an array with uniqueItems). The masks of strings know nothing of such texts;
// what is listed here must be checked token by token.

#include <cstdint>
#include <vector>

#include "base/token.h"
#include "grammar/string_lexer.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

// Returns the tokens that, read inside a JSON string at `state`, spell a beginning of one of
// `rests` (code points), or the whole of it and its closing quote, whatever may follow then.
[[nodiscard]] std::vector<TokenId> suspects(const TokenTrie& trie, const StringState& state,
                                            const std::vector<std::vector<std::uint32_t>>& rests);

}  // namespace daybreak::grammar
