// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small changes to an instance, most of which make it invalid in one place: what a grammar must
// notice is rarely far from what it allows.

#include <string>
#include <string_view>

#include "base/rng.h"

namespace daybreak::grammar {

// Returns `text` (compact JSON, as random_instance makes it) with one value somewhere changed: a
// member dropped, renamed, added or given twice; an item dropped, repeated, added or swapped; a
// number moved by a little or respelled; a string longer, shorter or otherwise; another type.
// The result is compact JSON. A text that parse_json_tree does not read comes back as it is.
[[nodiscard]] std::string mutate_instance(std::string_view text, Rng& rng);

}  // namespace daybreak::grammar
