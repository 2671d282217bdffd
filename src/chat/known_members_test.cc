// SPDX-License-Identifier: Apache-2.0
#include "chat/known_members.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/anthropic_request.h"
#include "chat/chat_request.h"
#include "chat/field_table.h"
#include "chat/responses_request.h"

namespace daybreak::chat {
namespace {

using Names = std::vector<std::string>;

// What a request's body is told of its fields, or the error.
Names of_chat(const std::string& body) {
  const auto request = parse_chat_request(body);
  return request ? request->ignored_fields : Names{"refused: " + request.error().message};
}
Names of_messages(const std::string& messages, const std::string& rest = "") {
  return of_chat("{\"messages\":[" + messages + "]" + rest + "}");
}
Names of_responses(const std::string& fields) {
  const auto request = parse_responses_request("{" + fields + "}", ResponsesHistory());
  return request ? request->chat.ignored_fields : Names{"refused: " + request.error().message};
}
Names of_anthropic(const std::string& messages, const std::string& rest = "") {
  const auto request = parse_anthropic_request(
      R"({"model":"m","max_tokens":9,"messages":[)" + messages + "]" + rest + "}",
      AnthropicCall::kMessages);
  return request ? request->chat.ignored_fields : Names{"refused: " + request.error().message};
}

const std::string kUser = R"({"role":"user","content":"hi"})";

TEST(KnownMembers, UnknownMembersOfChatMessagesAreNamed) {
  EXPECT_EQ(of_messages(R"({"role":"user","content":"h","foo":1})"), Names{"messages[].foo"});
  EXPECT_EQ(of_messages(R"({"role":"user","content":[{"type":"text","text":"h","foo":{}}]})"),
            Names{"messages[].content[].foo"});
  EXPECT_EQ(
      of_messages(kUser + R"(,{"role":"assistant","tool_calls":[{"id":"a","type":"function","x":1,)"
                          R"("function":{"name":"f","arguments":"{}","y":2}}],"z":3},)"
                          R"({"role":"tool","tool_call_id":"a","content":"r","w":4})"),
      (Names{"messages[].tool_calls[].x", "messages[].tool_calls[].function.y", "messages[].z",
             "messages[].w"}));
  EXPECT_EQ(of_messages(R"({"role":"user","content":"h","a\nb":1})"), Names{"messages[].a?b"})
      << "no line of a header breaks";
}

TEST(KnownMembers, UnknownMembersOfChatObjectsAreNamed) {
  const std::string tools = R"(,"tools":[{"type":"function","function":{"name":"f"}}])";
  EXPECT_EQ(of_messages(kUser, tools + R"(,"tool_choice":{"type":"function","x":1,)"
                                       R"("function":{"name":"f","y":1}})"),
            (Names{"tool_choice.x", "tool_choice.function.y"}));
  EXPECT_EQ(of_messages(kUser, R"(,"response_format":{"type":"json_schema","x":1,)"
                               R"("json_schema":{"name":"n","schema":{"z":1},"description":"d"}})"),
            (Names{"response_format.x", "response_format.json_schema.description"}));
  EXPECT_EQ(of_messages(kUser, R"(,"response_format":{"type":"text","json_schema":{"name":"n"}})"),
            Names{"response_format.json_schema"});
}

TEST(KnownMembers, AMemberOfManyMessagesIsOneName) {
  std::string many = kUser;
  std::string different = kUser;
  for (int i = 0; i < 1'000; ++i) {
    many += R"(,{"role":"user","content":"h","foo":1})";
    different += R"(,{"role":"user","content":"h","foo)" + std::to_string(i) + "\":1}";
  }
  EXPECT_EQ(of_messages(many), Names{"messages[].foo"});
  EXPECT_EQ(of_messages(different).size(), kMaxIgnoredFields);
}

// A message of the `openai` package as its model_dump() has it, one that its parse() made, and the
// messages of the AI SDK.
TEST(KnownMembers, WhatClientsOfTheChatRouteEchoIsNotNamed) {
  for (const std::string& message : {
           R"({"content":"a","refusal":null,"role":"assistant","annotations":[],"audio":null,)"
           R"("function_call":null,"tool_calls":null,"reasoning_content":"r","reasoning":"r"})",
           R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","index":0,)"
           R"("type":"function","function":{"name":"f","arguments":"{}",)"
           R"("parsed_arguments":{"a":1}}}],"parsed":{"a":1},"index":0,)"
           R"("internal_content":{"token_ids":[1]}})",
           R"({"role":"user","content":[{"type":"text","text":"h",)"
           R"("cache_control":{"type":"ephemeral"}}],"cache_control":{"type":"ephemeral"}})",
           R"({"role":"user","content":"h","name":"n","id":"m","status":"done","tool_calls":[],)"
           R"("reasoning_content":"","reasoning":null,"prefix":false,"partial":false})",
           R"({"role":"system","content":"s","tool_calls":null,"function_call":null})",
           R"({"role":"developer","content":[{"type":"text","text":"s","annotations":[]}]})",
       }) {
    EXPECT_EQ(of_messages(kUser + "," + message), Names()) << message;
  }
}

TEST(KnownMembers, FieldsOfOtherRolesAreRefusedWithTheirPath) {
  const auto refused = [](const std::string& members, const std::string& why) {
    for (const std::string role : {"user", "system", "developer"}) {
      const Names got = of_messages(R"({"role":")" + role + R"(","content":"h",)" + members + "}");
      const std::string of_role = why.ends_with("role ") ? why + "\"" + role + "\"" : why;
      EXPECT_EQ(got, Names{"refused: messages[0]." + of_role});
    }
  };
  refused(R"("function_call":{"name":"f"})",
          "function_call: expected nothing, found an object (the older form of `tool_calls`: say "
          "`tool_calls`)");
  refused(R"("audio":{"id":"a"})",
          "audio: expected nothing, found an object (the model hears nothing)");
  refused(R"("prefix":true)", "prefix: expected false or nothing, found true (say `partial`)");
  refused(R"("tool_calls":[1])",
          "tool_calls: expected a call in an assistant message only, found it in one of role ");
  refused(R"("tool_calls":{})", "tool_calls: expected an array, found an object");
  for (const std::string key : {"reasoning_content", "reasoning"}) {
    refused("\"" + key + R"(":"r")",
            key + ": expected text in an assistant message only, found it in one of role ");
    refused("\"" + key + R"(":1)", key + ": expected a string, found 1");
  }
  refused(R"("partial":{"a":1})", "partial: expected true or false, found an object");
  refused(R"("partial":true)",
          "partial: expected true in an assistant message only, found it in one of role ");
  EXPECT_EQ(of_messages(R"({"role":"user","content":"h","tool_call_id":"a"})"),
            Names{"messages[].tool_call_id"});
}

TEST(KnownMembers, FreeFormDataIsNotLookedAt) {
  const std::string schema = R"({"type":"object","properties":{"content":{"foo":1}},"role":"x"})";
  EXPECT_EQ(
      of_messages(kUser + R"(,{"role":"assistant","tool_calls":[{"id":"a","function":)"
                          R"({"name":"f","arguments":{"content":[{"type":"text","q":1}]}}}]})"
                          R"(,{"role":"tool","tool_call_id":"a","content":"r"})",
                  R"(,"tools":[{"type":"function","function":{"name":"f","parameters":)" + schema +
                      R"(}}],"response_format":{"type":"json_schema",)"
                      R"("json_schema":{"name":"n","schema":)" +
                      schema + "}}"),
      Names());
  EXPECT_EQ(
      of_anthropic(R"({"role":"user","content":"h"},{"role":"assistant","content":)"
                   R"([{"type":"server_tool_use","id":"a","name":"f","input":{"type":"text"}},)"
                   R"({"type":"web_search_tool_result","tool_use_id":"a","content":)"
                   R"([{"type":"web_search_result","url":"u","x":1}]}]},)"
                   R"({"role":"user","content":"h"})",
                   R"(,"tools":[{"name":"f","input_schema":)" + schema + "}]"),
      Names());
}

TEST(KnownMembers, AToolOfTheChatRouteIsShownToTheModelWhole) {
  const auto request = parse_chat_request(
      "{\"messages\":[" + kUser +
      R"(],"tools":[{"type":"function","foo":1,"function":{"name":"f","bar":2}}]})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->ignored_fields, Names());
  EXPECT_EQ(request->tools[0].json,
            R"({"foo":1,"function":{"bar":2,"name":"f"},"type":"function"})");
}

TEST(KnownMembers, UnknownMembersOfAnthropicRequestsAreNamed) {
  EXPECT_EQ(
      of_anthropic(
          R"({"role":"user","content":[{"type":"text","text":"h","a":1}],"b":1},)"
          R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","c":1},)"
          R"({"type":"tool_use","id":"u","name":"f","input":{"k":1},"d":1}]},)"
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"u","e":1,)"
          R"("content":[{"type":"text","text":"r","f":1}]},)"
          R"({"type":"document","source":{"type":"text","data":"d","g":1}}]})",
          R"(,"system":[{"type":"text","text":"s","h":1}],)"
          R"("tools":[{"name":"f","input_schema":{},"defer_loading":true}],)"
          R"("thinking":{"type":"enabled","i":1},"tool_choice":{"type":"auto","name":"f"},)"
          R"("output_config":{"format":{"type":"json_schema","schema":{"z":1},"name":"n"}})"),
      (Names{"messages[].content[].a", "messages[].b", "messages[].content[].c",
             "messages[].content[].d", "messages[].content[].e", "messages[].content[].content[].f",
             "messages[].content[].source.g", "system[].h", "tools[].defer_loading", "thinking.i",
             "tool_choice.name", "output_config.format.name"}));
}

TEST(KnownMembers, WhatClientsOfAnthropicsRouteEchoIsNotNamed) {
  EXPECT_EQ(
      of_anthropic(
          R"({"role":"user","content":[{"type":"text","text":"h","citations":null,)"
          R"("cache_control":{"type":"ephemeral","ttl":"1h"}}]},)"
          R"({"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use",)"
          R"("stop_sequence":null,"usage":{"input_tokens":1},"content":[)"
          R"({"type":"thinking","thinking":"t","signature":"daybreak"},)"
          R"({"type":"redacted_thinking","data":"x"},)"
          R"({"type":"text","text":"a","citations":[],"parsed_output":{}},)"
          R"({"type":"tool_use","id":"u","name":"f","input":{},"caller":{"type":"direct"}},)"
          R"({"type":"mcp_tool_use","id":"v","name":"g","input":{},"server_name":"s"},)"
          R"({"type":"mcp_tool_result","tool_use_id":"v","is_error":false,"content":[]}]},)"
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"u","is_error":true,)"
          R"("content":"r","cache_control":{"type":"ephemeral"}}]})",
          R"(,"tools":[{"type":"custom","name":"f","description":"d","input_schema":{},)"
          R"("strict":true,"cache_control":{"type":"ephemeral"}}],)"
          R"("tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true},)"
          R"("thinking":{"type":"adaptive","budget_tokens":9,"display":"omitted"})"),
      Names());
}

TEST(KnownMembers, UnknownMembersOfResponsesRequestsAreNamed) {
  EXPECT_EQ(
      of_responses(
          R"("input":[{"role":"user","a":1,"content":[{"type":"input_text","text":"h","b":1}]},)"
          R"({"type":"reasoning","summary":[{"type":"summary_text","text":"t","c":1}],"d":1},)"
          R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}","e":1},)"
          R"({"type":"function_call_output","call_id":"c","role":"x","output":"r","f":1}],)"
          R"("tools":[{"type":"function","name":"f","parameters":{"z":1},"g":1}],)"
          R"("tool_choice":{"type":"function","name":"f","mode":"auto"},)"
          R"("text":{"format":{"type":"text","name":"n"}})"),
      (Names{"input[].a", "input[].content[].b", "input[].summary[].c", "input[].d", "input[].e",
             "input[].f", "tools[].g", "tool_choice.mode", "text.format.name"}));
  EXPECT_EQ(
      of_responses(R"("input":[{"type":"reasoning","summary":[],"encrypted_content":"gA"},)"
                   R"({"role":"user","content":"h"}],"include":["code_interpreter_call.outputs",)"
                   R"("web_search_call.results"])"),
      (Names{"input[].encrypted_content", "include[]"}))
      << "the same spelling for what readers name";
}

TEST(KnownMembers, WhatClientsOfTheResponsesRouteEchoIsNotNamed) {
  EXPECT_EQ(
      of_responses(
          R"("input":[{"type":"message","role":"user","content":"h"},)"
          R"({"id":"rs_1","type":"reasoning","summary":[],"status":"completed",)"
          R"("content":[{"type":"reasoning_text","text":"t"}],"encrypted_content":null},)"
          R"({"id":"msg_1","type":"message","role":"assistant","status":"completed","content":)"
          R"([{"type":"output_text","annotations":[],"logprobs":[],"text":"a","parsed":null}]},)"
          R"({"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}",)"
          R"("status":"completed","parsed_arguments":{"a":1}},)"
          R"({"id":"o","type":"function_call_output","call_id":"c","status":"completed",)"
          R"("output":[{"type":"input_text","text":"r"}]}],)"
          R"("tools":[{"type":"function","name":"f","description":"d","parameters":{},)"
          R"("strict":true}],"tool_choice":{"type":"allowed_tools","mode":"auto",)"
          R"("tools":[{"type":"function","name":"f"}]},)"
          R"("text":{"format":{"type":"json_schema","name":"n","schema":{},"strict":true}})"),
      Names());
}

TEST(KnownMembers, PathsLoseTheirIndices) {
  EXPECT_EQ(any_item("messages[12].content[0].x"), "messages[].content[].x");
  EXPECT_EQ(any_item("tools"), "tools");
  EXPECT_EQ(any_item(""), "");
}

}  // namespace
}  // namespace daybreak::chat
