// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a mistyped name is from a known one, for messages that suggest what was meant.

#include <cstddef>
#include <span>
#include <string_view>

namespace daybreak::cli {

// Returns the insertions, deletions and replacements of bytes that turn `a` into `b`. Takes time
// a.size() * b.size(): callers bound both.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the first of `names` that is most like `wrong`, or "" if all are other words: half of the
// letters wrong is no slip.
std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> names);

}  // namespace daybreak::cli
