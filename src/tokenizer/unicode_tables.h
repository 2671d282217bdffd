// SPDX-License-Identifier: Apache-2.0
#pragma once

// The generated table behind char_class.h: three levels (8,192 code points, 128, then one), with a
// class number of 4 bits per code point.

#include <cstdint>

namespace daybreak::tokenizer::tables {

extern const std::uint64_t kClassesFnv1a64;  // of the class bytes of U+0000..U+10FFFF in order
extern const std::uint8_t kClasses[16];      // class number -> class bits
extern const std::uint8_t kTop[];            // code point >> 13 -> middle block
extern const std::uint8_t kMiddle[];         // middle block * 64 + 6 bits -> leaf
extern const std::uint64_t kLeaves[];        // leaf * 8 + 3 bits -> 16 class numbers

}  // namespace daybreak::tokenizer::tables
