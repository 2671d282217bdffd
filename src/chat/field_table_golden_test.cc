// SPDX-License-Identifier: Apache-2.0
// The tables of fields in docs/ are those that requests are parsed by.

#include <gtest/gtest.h>

#include <string>

#include "chat/field_table.h"
#include "testing/paths.h"

namespace daybreak::chat {
namespace {

void expect_table(const std::string& page, const std::string& name, const FieldTable& table) {
  const std::string begin = "<!-- fields: written by `daybreak help --fields " + name + "` -->\n";
  const std::string document = testing::read_file(testing::source_path(page));
  const std::size_t from = document.find(begin);
  const std::size_t to = document.find("<!-- end of fields -->", from);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << page << " " << name;
  EXPECT_EQ(document.substr(from + begin.size(), to - from - begin.size()), table.markdown())
      << "write what `daybreak help --fields " << name << "` prints between the comments of "
      << page;
}

TEST(FieldTableGolden, DocumentsHaveTheTables) {
  expect_table("docs/api.md", "chat", chat_fields());
  expect_table("docs/api.md", "completions", completion_fields());
  expect_table("docs/responses.md", "responses", responses_fields());
  expect_table("docs/anthropic.md", "messages", anthropic_fields());
}

}  // namespace
}  // namespace daybreak::chat
