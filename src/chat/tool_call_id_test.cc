// SPDX-License-Identifier: Apache-2.0
#include "chat/tool_call_id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

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

TEST(CompletionId, IsChatcmplAndTwentyFourHexDigits) {
  std::mt19937_64 random(3);
  std::set<std::string> seen;
  std::array<bool, 128> used{};
  const std::regex form("chatcmpl-[0-9a-f]{24}");
  for (int i = 0; i < 1'000; ++i) {
    const std::string id = make_completion_id([&] { return random(); });
    EXPECT_TRUE(std::regex_match(id, form)) << id;
    EXPECT_TRUE(seen.insert(id).second) << id;
    used[static_cast<std::size_t>(id.back())] = true;
  }
  EXPECT_EQ(std::ranges::count(used, true), 16) << "every digit comes last";
}

Message called(std::initializer_list<const char*> ids) {
  Message message;
  message.role = Role::kAssistant;
  for (const char* id : ids) {
    message.tool_calls.push_back({.id = id, .name = "f", .arguments = {}});
  }
  return message;
}

Message answered(const char* id) {
  Message message;
  message.role = Role::kTool;
  message.tool_call_id = id;
  return message;
}

TEST(VendorToolCallId, IsNameAndNumber) {
  EXPECT_EQ(make_vendor_tool_call_id("Bash", 0), "Bash_0");
  EXPECT_EQ(make_vendor_tool_call_id("get-time", 12), "get-time_12");
}

TEST(VendorToolCallId, KeepsItsNumberWhenItIsCutToSixtyFourBytes) {
  const std::string name(256, 'n');
  EXPECT_EQ(make_vendor_tool_call_id(name, 7), std::string(62, 'n') + "_7");
  EXPECT_EQ(make_vendor_tool_call_id(name, 12345), std::string(58, 'n') + "_12345");
  EXPECT_NE(make_vendor_tool_call_id(name, 1), make_vendor_tool_call_id(name, 2));
}

TEST(VendorToolCallId, HasOnlyCharactersThatClientsAccept) {
  EXPECT_EQ(make_vendor_tool_call_id("a.b<c\xC3\xA9 d", 1), "a_b_c___d_1");
}

TEST(VendorToolCallId, CountsOnFromTheHighestSeen) {
  EXPECT_EQ(next_call_number({}), 0U);
  EXPECT_EQ(next_call_number(std::vector{called({"call_x", "", "f"})}), 0U);
  EXPECT_EQ(next_call_number(std::vector{called({"f_0", "g_1"}), answered("f_0")}), 2U);
  EXPECT_EQ(next_call_number(std::vector{called({"f_9", "f_3"})}), 10U) << "not the last one";
  EXPECT_EQ(next_call_number(std::vector{answered("f_4")}), 5U) << "its call was compacted away";
  EXPECT_EQ(next_call_number(std::vector{called({"functions.f:6", "8", "a2b"})}), 9U);
}

// A client that trims its history keeps the latest ids: a count of calls would start again below.
TEST(VendorToolCallId, DoesNotDependOnTheLengthOfTheHistory) {
  EXPECT_EQ(next_call_number(std::vector{called({"f_3"}), called({"f_4"})}), 5U);
}

TEST(VendorToolCallId, NumbersNobodyCountedDoNotMatter) {
  EXPECT_EQ(next_call_number(std::vector{called({"f_999999999999999999"})}), 1000000000000000000U);
  EXPECT_EQ(next_call_number(std::vector{called({"f_18446744073709551615", "f_2"})}), 3U);
  EXPECT_EQ(next_call_number(std::vector{called({"f_20261130000000000000000000"})}), 0U);
}

TEST(ToolCallIds, RiseWithinAnAnswerWhateverTheNames) {
  ToolCallIds ids({}, next_call_number(std::vector{called({"f_0", "f_1"})}));
  EXPECT_EQ(ids.make("f"), "f_2");
  EXPECT_EQ(ids.make("f"), "f_3");
  EXPECT_EQ(ids.make("g"), "g_4");
}

TEST(ToolCallIds, AreRandomWithoutANumber) {
  std::mt19937_64 random(4);
  ToolCallIds ids([&] { return random(); }, std::nullopt);
  const std::string first = ids.make("f");
  EXPECT_EQ(first.substr(0, 5), "call_");
  EXPECT_NE(first, ids.make("f"));
}

}  // namespace
}  // namespace daybreak::chat
