// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tree of a regular expression, and the function that reads one.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/char_set.h"

namespace daybreak::grammar {

struct RegexNode {
  enum class Kind : std::uint8_t {
    kChars,     // one code point of RegexAst::sets[set]
    kSequence,  // all of `items`, in order; none: the empty string
    kChoice,    // one of `items`
    kRepeat,    // items[0], from `min` to `max` times
    kBegin,     // ^: nothing before
    kLook,      // what follows begins with items[0]; `negative`: does not
    kBoundary,  // \b, `negative`: \B; items[0] is \w
  };
  static constexpr std::uint32_t kNoMax = 0xFFFFFFFF;

  Kind kind = Kind::kSequence;
  bool negative = false;
  std::uint32_t set = 0;
  std::uint32_t min = 0, max = kNoMax;
  std::vector<std::uint32_t> items = {};  // in RegexAst::nodes
};

struct RegexAst {
  std::vector<RegexNode> nodes;
  std::vector<CharSet> sets;
  std::uint32_t root = 0;
  bool has_begin = false;     // a kBegin occurs
  bool has_boundary = false;  // a kBoundary occurs
};

// Groups may nest this deep; a recursion over the tree is at most four times as deep.
inline constexpr std::size_t kMaxRegexDepth = 200;

// Reads a pattern; dialect and errors as in regex.h. Greedy or lazy, capturing or not makes no
// difference to the language and is not kept. $ is a negative lookahead for any code point.
[[nodiscard]] Result<RegexAst> parse_regex(std::string_view pattern, Budget& budget);

}  // namespace daybreak::grammar
