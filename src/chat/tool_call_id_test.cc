// SPDX-License-Identifier: Apache-2.0
#include "chat/tool_call_id.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>

namespace daybreak::chat {
namespace {

TEST(ToolCallId, IsShortPlainAndUnique) {
  std::mt19937_64 random(1);
  const auto next = [&] { return random(); };
  std::set<std::string> seen;
  const std::regex form("call_[0-9A-Za-z]{24}");
  for (int i = 0; i < 10'000; ++i) {
    const std::string id = make_tool_call_id(next);
    EXPECT_TRUE(std::regex_match(id, form)) << id;
    EXPECT_TRUE(seen.insert(id).second) << id;
  }
}

TEST(ToolCallId, UsesEveryCharacterAlike) {
  std::mt19937_64 random(2);
  const auto next = [&] { return random(); };
  std::array<std::size_t, 128> count{};
  for (int i = 0; i < 20'000; ++i) {
    for (const char c : make_tool_call_id(next).substr(5)) {
      ++count[static_cast<std::size_t>(c)];
    }
  }
  const double mean = 20'000.0 * 24 / 62;
  for (const char c : {'0', '9', 'A', 'Z', 'a', 'm', 'z'}) {
    EXPECT_NEAR(static_cast<double>(count[static_cast<std::size_t>(c)]), mean, mean * 0.07) << c;
  }
}

}  // namespace
}  // namespace daybreak::chat
