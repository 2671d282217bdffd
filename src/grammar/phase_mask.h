// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mask of a string state within an escape or a multi-byte sequence, byte by byte over the trie.
// Few tokens go on there. Correct for every state: tests hold PlainMask to it.

#include <memory>

#include "grammar/string_masks.h"
#include "grammar/string_slices.h"

namespace daybreak::grammar {

[[nodiscard]] std::shared_ptr<const StringMask> make_phase_mask(const StringSlices& slices,
                                                                const StringLanguage& language,
                                                                StringCoding coding,
                                                                const StringState& state);

}  // namespace daybreak::grammar
