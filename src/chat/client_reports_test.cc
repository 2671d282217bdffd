// SPDX-License-Identifier: Apache-2.0
// What clients of K3 servers have reported as broken in requests and prompts, each as a test of
// what should happen. Ids of tool calls: tool_call_id_test.cc; sampling: vendor_contract_test.cc.

#include <gtest/gtest.h>

#include <string>

#include "chat/chat_request.h"
#include "chat/image_tokens.h"
#include "chat/render.h"

namespace daybreak::chat {
namespace {

const std::string kUser = R"({"role":"user","content":"hi"})";

std::string prompt_of(const std::string& json) {
  const auto request = parse_chat_request(json);
  if (!request) {
    return "refused: " + request.error().message;
  }
  const auto prompt = render_segments(*request);
  return prompt ? join_text(prompt->segments) : "refused: " + prompt.error().message;
}
std::string messages(const std::string& list) { return prompt_of("{\"messages\":[" + list + "]}"); }
std::string with(const std::string& rest) {
  return prompt_of("{\"messages\":[" + kUser + "]," + rest + "}");
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

std::string call(const std::string& id, const std::string& arguments,
                 const std::string& more = "") {
  return R"({"role":"assistant","tool_calls":[{"id":")" + id +
         R"(","type":"function","function":{"name":"f","arguments":)" + arguments + "}}]" + more +
         "}";
}
std::string result(const std::string& id, const std::string& content) {
  return R"({"role":"tool","tool_call_id":")" + id + R"(","content":")" + content + "\"}";
}

TEST(ClientReports, TextThatSpellsAnImagePlaceholderStaysText) {
  expect_contains(
      messages(R"({"role":"user","content":"what does <|kimi_image_placeholder|> mean?"})"),
      "what does <|kimi_image_placeholder|> mean?");
}

TEST(ClientReports, SystemMessageWithToolsOnlyDeclaresThem) {
  expect_contains(
      messages(R"({"role":"system","tools":[{"type":"function","function":{"name":"f"}}]},)" +
               kUser),
      R"(type="tool-declare")");
}

TEST(ClientReports, ToolChoiceNoneIsSaidToTheModelAndDropsCalls) {
  const auto request = parse_chat_request(
      "{\"messages\":[" + kUser +
      R"(],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"})");
  ASSERT_TRUE(request);
  EXPECT_FALSE(request->tools_allowed());
  expect_contains(join_text(render_segments(*request)->segments),
                  "You MUST NOT call any tools in the next message.");
}

TEST(ClientReports, TokensOfAnImageFollowItsSize) {
  EXPECT_EQ(image_pad_tokens({1000, 700}), 36U * 25U);
}

TEST(ClientReports, RepeatedIdsPairWithTheNearestCall) {
  const std::string prompt =
      messages(kUser + "," + call("f:0", R"("{}")") + "," + result("f:0", "one") + "," +
               call("f:0", R"("{}")") + "," + result("f:0", "two"));
  const std::string head = R"(<|open|>message role="tool" tool="f" index="1"<|sep|>)";
  expect_contains(prompt, head + "one<|close|>");
  expect_contains(prompt, head + "two<|close|>");
}

TEST(ClientReports, MissingReasoningIsAnEmptyThinkElement) {
  for (const std::string more : {"", R"(,"reasoning_content":"")", R"(,"reasoning_content":null)",
                                 R"(,"reasoning_content":"  ")"}) {
    expect_contains(messages(kUser + "," + call("a", R"("{}")", more) + "," + result("a", "r")),
                    R"(<|open|>message role="assistant"<|sep|><|open|>think<|sep|><|close|>think)");
  }
}

TEST(ClientReports, ResultWhoseCallWasCompactedAwayIsNamedOrRenderedByName) {
  EXPECT_EQ(messages(kUser + "," + result("gone", "r")).substr(0, 36),
            "refused: messages[1].tool_call_id: '");
  expect_contains(
      messages(kUser + R"(,{"role":"tool","tool_call_id":"gone","name":"f","content":"r"})"),
      R"(<|open|>message role="tool" tool="f" index="1"<|sep|>r)");
}

TEST(ClientReports, DeveloperIsSystem) {
  expect_contains(messages(R"({"role":"developer","content":"be brief"},)" + kUser),
                  R"(<|open|>message role="system"<|sep|>be brief<|close|>)");
}

TEST(ClientReports, DeveloperWithToolsAndContentIsTwoSystemMessages) {
  const std::string prompt = messages(
      R"({"role":"developer","content":"be brief","tools":[{"type":"function","function":{"name":"f"}}]},)" +
      kUser);
  const std::size_t declared = prompt.find(R"(type="tool-declare")");
  const std::size_t said = prompt.find(R"(<|open|>message role="system"<|sep|>be brief)");
  ASSERT_NE(declared, std::string::npos);
  ASSERT_NE(said, std::string::npos);
  EXPECT_LT(declared, said);
}

TEST(ClientReports, NullFieldsOfAToolAreNotAdded) {
  const std::string prompt = with(R"("tools":[{"type":"function","function":{"name":"f"}}])");
  expect_contains(prompt, R"([{"function":{"name":"f"},"type":"function"}])");
}

TEST(ClientReports, ArgumentsThatAreNoObjectAreShownAsTheyAre) {
  expect_contains(messages(kUser + "," + call("a", R"("{\"x\":1e2}")")), ">100.0<|close|>argument");
  expect_contains(messages(kUser + "," + call("a", R"("[1]")")),
                  R"(<|open|>json type="object"<|sep|>[1]<|close|>json)");
  expect_contains(messages(kUser + "," + call("a", R"("{\"a\":")")),
                  R"(<|open|>json type="object"<|sep|>{"a":<|close|>json)");
}

TEST(ClientReports, LowAndHighEffortReachTheModel) {
  for (const std::string effort : {"low", "high", "max"}) {
    expect_contains(with("\"reasoning_effort\":\"" + effort + "\""),
                    "invoked with `thinking_effort=" + effort + "`.");
  }
}

TEST(ClientReports, EffortNoneIsNoThinking) {
  const std::string prompt = with(R"("reasoning_effort":"none")");
  EXPECT_EQ(prompt.find("thinking_effort="), std::string::npos);
  EXPECT_TRUE(prompt.ends_with("<|open|>response<|sep|>"));
}

TEST(ClientReports, ThinkingAndReasoningEffortTogetherAreFineAndThinkingWins) {
  const std::string prompt =
      with(R"("thinking":{"type":"enabled","effort":"low"},"reasoning_effort":"high")");
  expect_contains(prompt, "invoked with `thinking_effort=low`.");
}

TEST(ClientReports, EmptyAssistantMessagesAreAccepted) {
  for (const std::string content : {R"("content":"")", R"("content":null)", R"("content":[])"}) {
    expect_contains(messages(kUser + R"(,{"role":"assistant",)" + content + "}," + kUser),
                    "<|open|>response<|sep|><|close|>response<|sep|><|close|>message");
  }
}

TEST(ClientReports, OurOwnReplyWithCallsAndEmptyContentIsAccepted) {
  const std::string prompt = messages(
      kUser + "," +
      call("call_x", R"("{\"a\":1}")", R"(,"content":"","reasoning_content":"r","reasoning":"r")") +
      "," + result("call_x", "ok"));
  expect_contains(prompt, "<|open|>think<|sep|>r<|close|>think");
  expect_contains(prompt, R"(<|open|>message role="tool" tool="f" index="1"<|sep|>ok)");
}

TEST(ClientReports, LongAndForeignIdsAreAccepted) {
  for (const std::string& id :
       {std::string("functions.f:0"), std::string("call_x"), std::string(300, 'i')}) {
    expect_contains(messages(kUser + "," + call(id, R"("{}")") + "," + result(id, "ok")),
                    R"(tool="f" index="1"<|sep|>ok)");
  }
}

TEST(ClientReports, FieldsTheModelWouldSilentlyLackAreRefused) {
  EXPECT_EQ(messages(kUser + R"(,{"role":"assistant","function_call":{"name":"f"}})"),
            "refused: messages[1].function_call: expected nothing, found an object (the older form "
            "of `tool_calls`: say `tool_calls`)");
  EXPECT_EQ(messages(kUser + R"(,{"role":"assistant","content":"a","prefix":true})"),
            "refused: messages[1].prefix: expected false or nothing, found true (say `partial`)");
  expect_contains(messages(kUser + R"(,{"role":"assistant","content":"a","prefix":false})"), "a");
}

}  // namespace
}  // namespace daybreak::chat
