// SPDX-License-Identifier: Apache-2.0
#include "grammar/regex_quantifier.h"

#include <algorithm>
#include <string>

#include "grammar/regex_ast.h"

namespace daybreak::grammar {
namespace {

using Quantifier = std::optional<RegexQuantifier>;

// Takes decimal digits from `at` on; nothing if there are none.
std::optional<std::uint32_t> take_number(std::string_view pattern, std::size_t& at) {
  std::optional<std::uint64_t> value;
  for (; at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9'; ++at) {
    value = std::min<std::uint64_t>(
        value.value_or(0) * 10 + static_cast<std::uint64_t>(pattern[at] - '0'),
        RegexNode::kNoMax - 1);
  }
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

}  // namespace

Error regex_fault(std::size_t at, std::string_view what) {
  return Error{Errc::kInvalidArgument,
               "regular expression: at byte " + std::to_string(at) + ": " + std::string(what)};
}

Result<Quantifier> read_quantifier(std::string_view pattern, std::size_t at) {
  const char first = at < pattern.size() ? pattern[at] : 0;
  if (first == '*' || first == '+') {
    return Quantifier({first == '+' ? 1U : 0U, RegexNode::kNoMax, 1});
  }
  if (first == '?') {
    return Quantifier({0, 1, 1});
  }
  if (first != '{') {
    return Quantifier();
  }
  std::size_t end = at + 1;
  const std::optional<std::uint32_t> min = take_number(pattern, end);
  std::optional<std::uint32_t> max = min;
  if (end < pattern.size() && pattern[end] == ',') {
    ++end;
    max = take_number(pattern, end);
  }
  const bool closed = end < pattern.size() && pattern[end] == '}';
  if (closed && !min && max) {
    return regex_fault(at, "expected {0,m}, found {,m}, which dialects read differently");
  }
  if (!closed || !min) {
    return Quantifier();
  }
  return Quantifier({*min, max.value_or(RegexNode::kNoMax), end + 1 - at});
}

}  // namespace daybreak::grammar
