// SPDX-License-Identifier: Apache-2.0
// JSON as Python itself printed it.

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/json_tree.h"
#include "chat/python_json.h"
#include "testing/paths.h"

namespace daybreak::chat {
namespace {

std::string printed(const JsonNode& node, JsonStyle style) {
  std::string out;
  append_python_json(out, node, style);
  return out;
}

TEST(PythonJsonGolden, PrintsAsPythonDoes) {
  std::istringstream in(testing::read_file(testing::source_path("golden/chat/python_json.jsonl")));
  std::size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    const auto golden = parse_json_tree(line);
    ASSERT_TRUE(golden) << golden.error().message;
    const std::string& text = golden->find("text")->text;
    SCOPED_TRACE(text);
    const auto tree = parse_json_tree(text);
    ASSERT_TRUE(tree) << tree.error().message;
    EXPECT_EQ(printed(*tree, JsonStyle::kSortedCompact), golden->find("sorted")->text);
    EXPECT_EQ(printed(*tree, JsonStyle::kSpaced), golden->find("spaced")->text);
  }
  EXPECT_EQ(count, 448U);
}

}  // namespace
}  // namespace daybreak::chat
