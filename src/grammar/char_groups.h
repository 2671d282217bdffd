// SPDX-License-Identifier: Apache-2.0
#pragma once

// Char groups: a fixed partition of the Unicode scalar values into few sets that patterns tend to
// take or refuse as a whole (a-z, digits, the comma, line separators, ...). The masks of string
// languages reason about groups before they look at single tokens. Any partition would be correct;
// this one makes most answers quick.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "grammar/char_set.h"

namespace daybreak::grammar {

using GroupMask = std::uint32_t;  // bit g: group g

inline constexpr std::uint32_t kCharGroups = 28;
inline constexpr GroupMask kAllGroups = (GroupMask{1} << kCharGroups) - 1;

struct CharGroupRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;  // included
  std::uint8_t group = 0;
};

// Returns the ranges, in ascending order; they cover every scalar value once.
[[nodiscard]] std::span<const CharGroupRange> char_group_ranges();
// Returns the first range that ends at `code_point` or after it, as an index into those.
[[nodiscard]] std::size_t char_group_range_at(std::uint32_t code_point);
// REQUIRES: a scalar value.
[[nodiscard]] std::uint8_t char_group_of(std::uint32_t code_point);
// Returns the number of scalar values in each group.
[[nodiscard]] const std::array<std::uint32_t, kCharGroups>& char_group_sizes();

// Returns the groups with code points beyond ASCII.
[[nodiscard]] GroupMask non_ascii_groups();

}  // namespace daybreak::grammar
