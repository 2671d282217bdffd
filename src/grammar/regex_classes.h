// SPDX-License-Identifier: Apache-2.0
#pragma once

// The character classes a regular expression can name.

#include <string_view>

#include "grammar/char_set.h"

namespace daybreak::grammar {

// \d, \w and \s as ECMA-262 has them (22.2.2.9 and 22.2.2.10, without the i flag), and the dot
// without the s flag.
[[nodiscard]] const CharSet& digit_class();
[[nodiscard]] const CharSet& word_class();
[[nodiscard]] const CharSet& space_class();
[[nodiscard]] const CharSet& dot_class();

// Returns the code points of \p{name} in Unicode 16.0, or null for a property that is not in the
// list: L, Lu, Ll, Lt, N, Nd, Script=Han, White_Space, Any, ASCII, ASCII_Hex_Digit, in all the
// spellings that ECMA-262 gives them. Thread-safe; computed once.
[[nodiscard]] const CharSet* property_class(std::string_view name);

}  // namespace daybreak::grammar
