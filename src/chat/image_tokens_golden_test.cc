// SPDX-License-Identifier: Apache-2.0
// Media token counts against an independent implementation.

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/json_tree.h"
#include "chat/image_tokens.h"
#include "chat/python_json.h"
#include "testing/paths.h"

namespace daybreak::chat {
namespace {

TEST(ImageTokensGolden, EqualTheIndependentCount) {
  std::istringstream in(testing::read_file(testing::source_path("golden/chat/image_tokens.jsonl")));
  std::size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    SCOPED_TRACE(line);
    const auto golden = parse_json_tree(line);
    ASSERT_TRUE(golden) << golden.error().message;
    const auto number = [&](std::string_view key) { return number_value(golden->find(key)->raw); };
    const ImageSize size{static_cast<std::uint32_t>(number("width")),
                         static_cast<std::uint32_t>(number("height"))};
    EXPECT_EQ(image_pad_tokens(size), number("tokens"));
  }
  EXPECT_EQ(count, 509U);
}

}  // namespace
}  // namespace daybreak::chat
