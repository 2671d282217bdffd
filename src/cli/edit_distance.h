// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a mistyped name is from a known one, for messages that suggest what was meant.

#include <cstddef>
#include <string_view>

namespace daybreak::cli {

// Returns the insertions, deletions and replacements of bytes that turn `a` into `b`. Takes time
// a.size() * b.size(): callers bound both.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace daybreak::cli
