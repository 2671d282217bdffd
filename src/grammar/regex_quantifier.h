// SPDX-License-Identifier: Apache-2.0
#pragma once

// The quantifiers of regular expressions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace daybreak::grammar {

struct RegexQuantifier {
  std::uint32_t min = 0, max = 0;  // RegexNode::kNoMax: without end; larger numbers are cut to it
  std::size_t length = 0;          // bytes of the pattern, without the ? of a lazy one
};

// Returns the quantifier *, +, ?, {n}, {n,} or {n,m} at `at`, or nothing; a brace that begins
// none of them is a letter. The bounds may be out of order.
// Errors: kInvalidArgument for {,m}, which dialects read differently.
[[nodiscard]] Result<std::optional<RegexQuantifier>> read_quantifier(std::string_view pattern,
                                                                     std::size_t at);

// Returns kInvalidArgument "regular expression: at byte AT: WHAT".
[[nodiscard]] Error regex_fault(std::size_t at, std::string_view what);

}  // namespace daybreak::grammar
