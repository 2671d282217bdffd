// SPDX-License-Identifier: Apache-2.0
#include "chat/render_tools.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace daybreak::chat {
namespace {

ToolCall call(std::string id, std::string name) {
  return {.id = std::move(id), .name = std::move(name), .arguments = "{}"};
}
Message result(std::string id, std::string name = "") {
  Message message;
  message.role = Role::kTool;
  message.tool_call_id = std::move(id);
  message.name = std::move(name);
  return message;
}

// "NAME INDEX POSITION" of every result, or what was refused.
std::string names(CallHistory& history, const std::vector<Message>& run, std::size_t first = 1) {
  const auto named = history.name_results(run, first);
  if (!named) {
    EXPECT_EQ(named.error().code, Errc::kInvalidArgument);
    return named.error().message.substr(0, named.error().message.find(" is not"));
  }
  std::string out;
  for (const ToolResult& one : *named) {
    out += (out.empty() ? "" : ", ") + one.tool + " " + std::to_string(one.index) + " " +
           std::to_string(one.position);
  }
  return out;
}
std::string names(const std::vector<ToolCall>& calls, const std::vector<Message>& run) {
  CallHistory history;
  history.add(calls);
  return names(history, run);
}

TEST(RenderTools, ResultsTakeTheOrderOfTheirCalls) {
  EXPECT_EQ(names({call("a", "f"), call("b", "g")}, {result("b"), result("a")}), "f 1 2, g 2 1");
  EXPECT_EQ(names({call("a", "f"), call("b", "g")}, {result("b", "x")}), "g 1 1")
      << "the released encoder's rule: the call's name wins where all match";
}

TEST(RenderTools, CallsThatShareAnIdAreAnsweredInTheirOrder) {
  const std::vector<ToolCall> calls = {call("c", "f"), call("c", "g"), call("d", "h")};
  EXPECT_EQ(names(calls, {result("c"), result("c")}), "f 1 1, g 2 2");
  EXPECT_EQ(names(calls, {result("c"), result("d"), result("c")}), "f 1 1, g 2 3, h 3 2");
  EXPECT_EQ(names(calls, {result("c"), result("c"), result("c")}), "f 1 1, f 2 3, g 3 2");
  CallHistory history;
  history.add(calls);
  EXPECT_EQ(names(history, {result("c")}), "f 1 1");
  EXPECT_EQ(names(history, {result("c")}, 3), "g 2 3") << "also when a message stands between";
}

TEST(RenderTools, AResultOfAnOlderTurnKeepsTheNameOfItsCall) {
  const std::vector<ToolCall> older = {call("a", "f"), call("b", "g")};
  const std::vector<ToolCall> newer = {call("c", "h")};
  CallHistory history;
  history.add(older);
  EXPECT_EQ(names(history, {result("a")}), "f 1 1");
  history.add(newer);
  EXPECT_EQ(names(history, {result("b"), result("c")}, 3), "g 1 3, h 2 4") << "not h, by its place";
  history.add({});
  EXPECT_EQ(names(history, {result("a")}, 6), "f 1 6");
}

TEST(RenderTools, AnIdThatComesAgainMeansTheNearestTurn) {
  const std::vector<ToolCall> first = {call("x:0", "f")};
  const std::vector<ToolCall> second = {call("x:0", "g")};
  CallHistory history;
  history.add(first);
  EXPECT_EQ(names(history, {result("x:0")}), "f 1 1");
  history.add(second);
  EXPECT_EQ(names(history, {result("x:0")}, 3), "g 1 3");
}

TEST(RenderTools, AnUnknownIdMeansTheCallAtItsPlaceIfNoOtherResultDoes) {
  const std::vector<ToolCall> calls = {call("a", "f"), call("b", "g")};
  EXPECT_EQ(names(calls, {result("1"), result("2")}), "f 1 1, g 2 2") << "a client rewrote the ids";
  EXPECT_EQ(names(calls, {result("a"), result("2")}), "f 1 1, g 2 2");
  EXPECT_EQ(names(calls, {result("1"), result("a")}), "messages[1].tool_call_id: '1'");
  EXPECT_EQ(names(calls, {result("b"), result("2")}), "messages[2].tool_call_id: '2'");
  EXPECT_EQ(names(calls, {result("1"), result("2"), result("3")}), "messages[3].tool_call_id: '3'");
  EXPECT_EQ(names({call("", "f")}, {result("")}), "f 1 1") << "calls without ids";
  EXPECT_EQ(names({}, {result("gone")}), "messages[1].tool_call_id: 'gone'");
  EXPECT_EQ(names({}, {result("gone", "n")}), "n 1 1");
  EXPECT_EQ(names(calls, {result("1", "n"), result("b")}), "n 1 1, g 2 2");
}

}  // namespace
}  // namespace daybreak::chat
