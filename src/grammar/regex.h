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
// for the properties in regex_classes.h), quantifiers greedy or lazy, ^ and $ wherever they may
// stand,
// \b and \B, lookahead and negative lookahead anywhere, inside repeats too. Taken as literals
// although the u flag refuses them, because people write them and mean nothing else: escaped
// punctuation (\-, \_), braces and brackets that begin nothing, and the hyphen in [\w-.].
// Errors: kInvalidArgument  not a pattern; says what is wrong at which byte
//         kUnsupported      backreferences, lookbehind, (?i:..), other \p{..}; named
//         kTooLarge         the budget ended
[[nodiscard]] Result<Dfa> compile_regex(std::string_view pattern, RegexMatch match, Budget& budget);

}  // namespace daybreak::grammar
