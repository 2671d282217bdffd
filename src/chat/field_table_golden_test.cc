// SPDX-License-Identifier: Apache-2.0
// The table of fields in docs/api.md is the one requests are parsed by.

#include <gtest/gtest.h>

#include <string>

#include "chat/field_table.h"
#include "testing/paths.h"

namespace daybreak::chat {
namespace {

TEST(FieldTableGolden, DocumentHasTheTable) {
  const std::string begin = "<!-- fields: written by `daybreak help --fields` -->\n";
  const std::string end = "<!-- end of fields -->";
  const std::string document = testing::read_file(testing::source_path("docs/api.md"));
  const std::size_t from = document.find(begin);
  const std::size_t to = document.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos && from < to);
  EXPECT_EQ(document.substr(from + begin.size(), to - from - begin.size()), field_table_markdown())
      << "write what `daybreak help --fields` prints between the two comments of docs/api.md";
}

}  // namespace
}  // namespace daybreak::chat
