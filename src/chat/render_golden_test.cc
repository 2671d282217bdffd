// SPDX-License-Identifier: Apache-2.0
// Prompts against an independent renderer, segment by segment.

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

#include "base/json_tree.h"
#include "chat/render.h"
#include "chat/render_line.h"
#include "testing/paths.h"

namespace daybreak::chat {
namespace {

std::string show(const std::vector<Segment>& segments) {
  std::string out;
  for (const Segment& segment : segments) {
    out += (segment.allow_special ? "S " : "T ") + segment.text + "\n";
  }
  return out;
}

// The renderer's input is what stands in the line; its own fields are not kwargs.
std::string without_extras(const JsonNode& golden) {
  return "{\"messages\":" + std::string(golden.find("messages")->raw) +
         ",\"tools\":" + std::string(golden.find("tools")->raw) +
         ",\"kwargs\":" + std::string(golden.find("kwargs")->raw) + "}";
}

TEST(RenderGolden, EqualsTheIndependentRenderer) {
  std::istringstream in(testing::read_file(testing::source_path("golden/chat/render.jsonl")));
  std::size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    const auto golden = parse_json_tree(line);
    ASSERT_TRUE(golden) << golden.error().message;
    SCOPED_TRACE(golden->find("name")->text);
    const auto request = parse_render_line(without_extras(*golden));
    ASSERT_TRUE(request) << request.error().message;
    const auto prompt = render_segments(*request);
    ASSERT_TRUE(prompt) << prompt.error().message;
    std::vector<Segment> expected;
    for (const JsonNode& pair : golden->find("segments")->items) {
      expected.push_back({pair.items[0].text, pair.items[1].boolean});
    }
    ASSERT_EQ(show(prompt->segments), show(expected));
  }
  EXPECT_GE(count, 99U);
  std::cout << "PROOF render_own: " << count << " conversations, all segments equal\n";
}

}  // namespace
}  // namespace daybreak::chat
