// SPDX-License-Identifier: Apache-2.0
#pragma once

// Byte-pair encoding of one piece of text.

#include <string_view>
#include <vector>

#include "base/token.h"
#include "tokenizer/vocabulary.h"

namespace daybreak::tokenizer {

// Appends the ranks of `piece` to `out`: its own rank if it is a token, whether or not merging
// would reach it; otherwise its single bytes, where the neighbours that join into the lowest rank
// are merged, the leftmost of equals first, until none join. Ranks need not grow while merging (a
// merge can have a lower rank than its parts), so nothing is assumed about their order.
// Time O(n log n). Source: spec k3-frontend.md section 1.4.
void encode_piece(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out);

// The two ways to merge, which give the same ranks; encode_piece picks one by length. For tests.
// Neither looks for the piece as a whole.
void merge_by_scan(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out);
void merge_by_heap(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out);

}  // namespace daybreak::tokenizer
