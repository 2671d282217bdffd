// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/char_class.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "base/hash.h"

namespace daybreak::tokenizer {
namespace {

// The number was computed from the source table by the generator: a mistake in packing or lookup
// of any code point changes it.
TEST(CharClass, PacksTheWholeSourceTable) {
  std::uint64_t hash = kFnvOffset;
  for (std::uint32_t value = 0; value <= 0x10FFFF; ++value) {
    const std::byte bits{char_class(value)};
    hash = fnv1a64({&bits, 1}, hash);
  }
  EXPECT_EQ(hash, tables::kClassesFnv1a64);
}

TEST(CharClass, AsciiShortcutEqualsTheTable) {
  for (std::uint32_t value = 0; value < 128; ++value) {
    EXPECT_EQ(char_class(value), table_class(value)) << value;
  }
}

// Totals of Unicode 16.0 (spec tokenizer.md section 3.3).
TEST(CharClass, CountsTheCharactersOfUnicode16) {
  std::size_t numbers = 0;
  std::size_t han = 0;
  std::size_t spaces = 0;
  std::size_t letters = 0;
  for (std::uint32_t value = 0; value <= 0x10FFFF; ++value) {
    const CharClass bits = char_class(value);
    numbers += (bits & kNumber) != 0;
    han += (bits & kHan) != 0;
    spaces += (bits & kSpace) != 0;
    letters += (bits & kLetter) != 0;
    ASSERT_FALSE((bits & kHan) != 0 && (bits & (kUpper | kLower)) != 0) << value;
  }
  EXPECT_EQ(numbers, 1911U);
  EXPECT_EQ(han, 99'030U);
  EXPECT_EQ(spaces, 25U);
  EXPECT_EQ(letters, 1858U + 31 + 404 + 136'477 + 2258);
}

TEST(CharClass, PythonCountsFourMoreSpacesThanThePattern) {
  std::size_t python_spaces = 0;
  for (std::uint32_t value = 0; value <= 0x10FFFF; ++value) {
    python_spaces += is_python_space(value);
  }
  EXPECT_EQ(python_spaces, 29U);
  for (std::uint32_t value = 0x1C; value <= 0x1F; ++value) {
    EXPECT_TRUE(is_python_space(value));
    EXPECT_EQ(char_class(value), 0);
  }
  EXPECT_FALSE(is_python_space(0x200B));
  EXPECT_FALSE(is_python_space(0x180E));
}

}  // namespace
}  // namespace daybreak::tokenizer
