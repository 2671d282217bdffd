// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits text into the pieces inside which BPE merges. The pieces are the successive matches of
//
//   1  [\p{Han}]+
//   2  [^\r\n\p{L}\p{N}]? U* L+ C?        U = Lu Lt Lm Lo M, not Han    L = Ll Lm Lo M, not Han
//   3  [^\r\n\p{L}\p{N}]? U+ L* C?        C = 's 't 're 've 'm 'll 'd, any case; U+017F is an s
//   4  \p{N}{1,3}
//   5   ?[^\s\p{L}\p{N}]+[\r\n]*
//   6  \s*[\r\n]+
//   7  \s+(?!\S)
//   8  \s+
//
// with the first alternative that matches, as a backtracking matcher finds it. Every text is
// covered without gaps. Source: spec k3-frontend.md section 1.3.

#include <cstddef>
#include <string_view>

namespace daybreak::tokenizer {

// Returns the end of the piece that starts at `text[begin]`; the end is past begin. The pieces of a
// whole text together take linear time.
// REQUIRES: `text` is valid UTF-8 and begin < text.size() is the first byte of a sequence.
[[nodiscard]] std::size_t piece_end(std::string_view text, std::size_t begin);

}  // namespace daybreak::tokenizer
