// SPDX-License-Identifier: Apache-2.0
#pragma once

// Regular expressions of JSON Schema's `pattern` and of the request field `regex`: the ECMA-262
// dialect with the u flag, compiled to a Dfa.

#include <string_view>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/dfa.h"

namespace daybreak::grammar {

// kSearch: the pattern may match anywhere (JSON Schema); kWhole: it must match the whole string.
enum class RegexMatch : bool { kSearch, kWhole };

// Returns the strings that match. Supported: alternation, groups (capturing, named, (?:)), classes
// and escapes (\d \D \w \W \s \S, \t \n \v \f \r \0 \cX \xHH \uHHHH \u{H..} surrogate pairs, \p{..}
// general categories and scripts are refused by name), quantifiers greedy or lazy,
// ^ and $ wherever they may stand, \b and \B, lookahead and negative lookahead.
// Errors: kInvalidArgument  not a pattern; says what is wrong at which offset
//         kUnsupported      backreferences, lookbehind, \p{..}; named
//         kTooLarge         the budget ended
[[nodiscard]] Result<Dfa> compile_regex(std::string_view pattern, RegexMatch match, Budget& budget);

}  // namespace daybreak::grammar
