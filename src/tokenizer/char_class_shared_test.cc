// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/paths.h"
#include "tokenizer/char_class.h"

namespace daybreak::tokenizer {
namespace {

TEST(CharClass, EqualsTheReferenceTableForEveryCodePoint) {
  const auto path = daybreak::testing::shared_path("tokenizer/k3_class_unicode16.bin");
  DAYBREAK_SHARED_OR_SKIP(path);
  const std::string table = daybreak::testing::read_file(path);
  ASSERT_EQ(table.size(), 0x110000U);
  for (std::uint32_t value = 0; value <= 0x10FFFF; ++value) {
    ASSERT_EQ(char_class(value), static_cast<unsigned char>(table[value])) << value;
  }
}

}  // namespace
}  // namespace daybreak::tokenizer
