// SPDX-License-Identifier: Apache-2.0
// What an Anthropic message contains, request by request.

#include <gtest/gtest.h>

#include <set>

#include "api/anthropic_test_server.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

constexpr const char* kAnswer =
    "think<|close|>think<|sep|><|open|>response<|sep|>hello you<|close|>response<|sep|>"
    "<|close|>message<|sep|><|end_of_msg|>";
constexpr const char* kTwoCalls =
    "why<|close|>think<|sep|><|open|>response<|sep|>Wait<|close|>response<|sep|><|open|>tools<|sep|"
    ">"
    "<|open|>call tool=\"f\" index=\"1\"<|sep|><|open|>argument key=\"a\" type=\"string\"<|sep|>x"
    "<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool=\"f\" index=\"2\"<|sep|>"
    "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>";

std::size_t tokens(const TestApi& api, const std::string& text) {
  return chat::shapes::encode(*api.tokenizer, text).size();
}

// Both forms of a reply, checked to be the same.
Json message_of(TestApi& api, const std::string& fields,
                const std::string& messages = R"([{"role":"user","content":"hi"}])") {
  const std::string reply = post_message(api, anthropic_body(fields, messages));
  EXPECT_EQ(status_of(reply), 200) << reply;
  Json message = Json::parse(body_of(reply), nullptr, false);
  const std::string comma = fields.empty() ? "" : ",";
  const Json streamed =
      streamed_message(api, anthropic_body(fields + comma + R"("stream":true)", messages));
  EXPECT_EQ(message_without_ids(streamed).dump(), message_without_ids(message).dump());
  return message;
}

TEST(Anthropic, PlainMessageHasEveryPart) {
  TestApi api(TestApi::says(kAnswer));
  const Json message = message_of(api, "");
  EXPECT_TRUE(message["id"].get<std::string>().starts_with("msg_"));
  EXPECT_EQ(message["type"], "message");
  EXPECT_EQ(message["role"], "assistant");
  EXPECT_EQ(message["model"], "nano");
  EXPECT_EQ(message["content"],
            Json::parse(R"([{"type":"thinking","thinking":"think","signature":"daybreak"},)"
                        R"({"type":"text","text":"hello you"}])"));
  EXPECT_EQ(message["stop_reason"], "end_turn");
  EXPECT_TRUE(message["stop_sequence"].is_null());
  const std::size_t prompt = api.engine.requests().at(0).prompt.size();
  EXPECT_EQ(message["usage"]["input_tokens"], prompt - tokens(api, "<|open|>think<|sep|>"));
  EXPECT_EQ(message["usage"]["output_tokens"], tokens(api, kAnswer));
  EXPECT_EQ(message["usage"]["output_tokens_details"]["thinking_tokens"], tokens(api, "think"));
  EXPECT_EQ(message["usage"]["cache_read_input_tokens"], 0);
  EXPECT_EQ(message["usage"]["cache_creation_input_tokens"], 0);
}

TEST(Anthropic, StreamHasTheEventsInTheirOrder) {
  TestApi api(TestApi::says(kAnswer));
  std::string order;
  for (const auto& event : stream_events(api, anthropic_body(R"("stream":true)"))) {
    const std::string type = event.type == "content_block_delta"
                                 ? event.data["delta"]["type"].get<std::string>()
                                 : event.type;
    order += order.ends_with(type + " ") ? "" : type + " ";
  }
  EXPECT_EQ(order,
            "message_start ping content_block_start thinking_delta signature_delta "
            "content_block_stop content_block_start text_delta content_block_stop message_delta "
            "message_stop ");
}

TEST(Anthropic, BothPathsAndTheirHeaders) {
  TestApi api(TestApi::says(kAnswer));
  for (const std::string path : {"/v1/messages", "/anthropic/v1/messages"}) {
    RawClient client(api.server->port());
    std::string text = TestApi::request_text(anthropic_body(R"("wibble":1)"), path);
    text.insert(text.find("\r\n") + 2,
                "anthropic-version: 2023-06-01\r\nx-api-key: k\r\nanthropic-beta: a,b\r\n"
                "x-request-id: my-id\r\n");
    client.send(text);
    const std::string reply = client.read_response();
    EXPECT_EQ(status_of(reply), 200) << reply;
    EXPECT_NE(reply.find("\r\nrequest-id: my-id\r\n"), std::string::npos) << reply;
    EXPECT_NE(reply.find("\r\nx-daybreak-ignored-fields: wibble\r\n"), std::string::npos) << reply;
    EXPECT_EQ(streamed_message(api, anthropic_body(R"("stream":true)"), path)["stop_reason"],
              "end_turn");
  }
}

TEST(Anthropic, ToolUseIsStreamedAsItsJson) {
  TestApi api(TestApi::says(kTwoCalls));
  const Json message = message_of(api, kAnthropicTools);
  EXPECT_EQ(message["stop_reason"], "tool_use");
  ASSERT_EQ(message["content"].size(), 4U);
  EXPECT_EQ(message["content"][2]["name"], "f");
  EXPECT_EQ(message["content"][2]["input"], Json({{"a", "x"}}));
  EXPECT_EQ(message["content"][3]["input"], Json::object());
  const std::string id = message["content"][2]["id"];
  EXPECT_TRUE(id.starts_with("toolu_") && id.size() <= 64) << id;
  EXPECT_NE(id, message["content"][3]["id"].get<std::string>());
  const Json single =
      message_of(api, std::string(kAnthropicTools) +
                          R"(,"tool_choice":{"type":"auto","disable_parallel_tool_use":true})");
  EXPECT_EQ(single["content"].size(), 3U);
}

// A tool loop: our message goes back unchanged, and the next prompt goes on from where we were.
TEST(Anthropic, EchoOfOurOwnMessageContinuesThePrompt) {
  TestApi api(TestApi::says(kTwoCalls));
  const Json message = message_of(api, kAnthropicTools);
  Json results = Json::array();
  for (const std::size_t i : {3U, 2U}) {
    results.push_back({{"type", "tool_result"},
                       {"tool_use_id", message["content"][i]["id"]},
                       {"content", {{{"type", "text"}, {"text", "r" + std::to_string(i)}}}}});
  }
  const Json messages = {{{"role", "user"}, {"content", "hi"}},
                         {{"role", "assistant"}, {"content", message["content"]}},
                         {{"role", "user"}, {"content", results}}};
  message_of(api, kAnthropicTools, messages.dump());
  const auto requests = api.engine.requests();
  std::vector<TokenId> begun = requests.at(0).prompt;
  const auto wrote = chat::shapes::encode(*api.tokenizer, kTwoCalls);
  begun.insert(begun.end(), wrote.begin(), wrote.end());
  const std::vector<TokenId>& next = requests.at(2).prompt;
  ASSERT_GT(next.size(), begun.size());
  EXPECT_TRUE(std::equal(begun.begin(), begun.end(), next.begin()));
}

TEST(Anthropic, ThinkingCanBeOffOrLeftOut) {
  TestApi off(TestApi::says("hello<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"));
  EXPECT_EQ(message_of(off, R"("thinking":{"type":"disabled"})")["content"],
            Json::parse(R"([{"type":"text","text":"hello"}])"));
  TestApi on(TestApi::says(kAnswer));
  EXPECT_EQ(message_of(on, R"("thinking":{"type":"adaptive","display":"omitted"})")["content"][0],
            Json::parse(R"({"type":"thinking","thinking":"","signature":"daybreak"})"));
}

TEST(Anthropic, CutInsideACallLeavesNothingThatLooksWhole) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const std::string text = kTwoCalls;
  const std::size_t cut =
      chat::shapes::encode(*tokenizer, text.substr(0, text.find("x<|close|>argument") + 1)).size();
  TestApi api(TestApi::says(kTwoCalls));
  const std::string body = R"({"model":"nano","messages":[{"role":"user","content":"hi"}],)" +
                           std::string(kAnthropicTools) + R"(,"max_tokens":)" + std::to_string(cut);
  const Json message = Json::parse(body_of(post_message(api, body + "}")));
  EXPECT_EQ(message["stop_reason"], "max_tokens");
  const Json input = message["content"][2]["input"];
  ASSERT_TRUE(input.contains("INVALID_JSON")) << message;
  EXPECT_TRUE(input["INVALID_JSON"].get<std::string>().starts_with(R"({"a":")")) << message;
  const Json streamed = streamed_message(api, body + R"(,"stream":true})");
  EXPECT_EQ(message_without_ids(streamed).dump(), message_without_ids(message).dump());
}

TEST(Anthropic, StopSequenceIsNamed) {
  TestApi api(TestApi::says(kAnswer));
  const Json message = message_of(api, R"("stop_sequences":["zz"," you","ou"])");
  EXPECT_EQ(message["content"][1]["text"], "hello");
  EXPECT_EQ(message["stop_reason"], "stop_sequence");
  EXPECT_EQ(message["stop_sequence"], " you");
}

TEST(Anthropic, SamplingAndLimitsReachTheEngine) {
  TestApi api(TestApi::says(kAnswer));
  message_of(api, R"("temperature":0.5,"top_p":0.25,"top_k":7)");
  const auto request = api.engine.requests().at(0);
  EXPECT_EQ(request.sampling.temperature, 0.5F);
  EXPECT_EQ(request.sampling.top_p, 0.25F);
  EXPECT_EQ(request.sampling.top_k, 7);
  EXPECT_EQ(request.max_tokens, 500U);
  EXPECT_TRUE(api.engine.requests().at(0).constraint == nullptr);
}

TEST(Anthropic, SchemaAndForcedToolsConstrainTheAnswer) {
  TestApi api(TestApi::says(kAnswer));
  post_message(api, anthropic_body(R"("output_config":{"format":{"type":"json_schema","schema":)"
                                   R"({"type":"object"}}})"));
  post_message(api,
               anthropic_body(std::string(kAnthropicTools) + R"(,"tool_choice":{"type":"any"})"));
  ASSERT_EQ(api.engine.requests().size(), 2U);
  EXPECT_TRUE(api.engine.requests().at(0).constraint != nullptr);
  EXPECT_TRUE(api.engine.requests().at(1).constraint != nullptr);
}

TEST(Anthropic, CountIsTheUsageOfTheSameRequest) {
  TestApi api(TestApi::says(kAnswer));
  const std::string fields = std::string(kAnthropicTools) + R"(,"system":"be brief")";
  const Json usage = message_of(api, fields)["usage"];
  for (const std::string path :
       {"/v1/messages/count_tokens", "/anthropic/v1/messages/count_tokens"}) {
    const std::string reply = api.post(
        R"({"model":"kimi-k3[1m]","messages":[{"role":"user","content":"hi"}],)" + fields + "}",
        path);
    EXPECT_EQ(status_of(reply), 200) << reply;
    EXPECT_EQ(body_of(reply), R"({"input_tokens":)" + usage["input_tokens"].dump() + "}");
    EXPECT_NE(reply.find("\r\nrequest-id: req-"), std::string::npos) << reply;
  }
  EXPECT_EQ(api.engine.requests().size(), 2U);  // those of message_of
}

TEST(Anthropic, CountTakesPromptsThatDoNotFit) {
  TestApi api(TestApi::says(kAnswer), {.engine = {.context_tokens = 20}});
  EXPECT_EQ(status_of(api.post(anthropic_body(), "/v1/messages/count_tokens")), 200);
}

// As Claude Code asks: system blocks with cache marks, deferred tools, reminders, references in
// results, unsigned thinking, context management.
TEST(Anthropic, AgentRequestIsTaken) {
  TestApi api(TestApi::says(kTwoCalls));
  std::string tools = R"("tools":[{"name":"f","input_schema":{"type":"object"}})";
  for (int i = 0; i < 60; ++i) {
    tools += R"(,{"name":"mcp__server-x__tool_)" + std::to_string(i) +
             R"(","description":"d","defer_loading":true,"input_schema":{"$schema":)"
             R"("http://json-schema.org/draft-07/schema#","type":"object","properties":)"
             R"({"q":{"type":"string"}},"required":["q"],"additionalProperties":false}})";
  }
  const std::string fields =
      tools +
      R"(],"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2; cch=1;"},)"
      R"({"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}},)"
      R"({"type":"text","text":"\nRules","cache_control":{"type":"ephemeral","ttl":"1h"}}],)"
      R"("metadata":{"user_id":"user_1_account__session_2"},"thinking":{"type":"adaptive"},)"
      R"("output_config":{"effort":"medium"},"context_management":{"edits":)"
      R"([{"type":"clear_thinking_20251015","keep":"all"}]},"temperature":1)";
  const std::string messages =
      R"([{"role":"user","content":[{"type":"text","text":"<system-reminder>a</system-reminder>"},)"
      R"({"type":"text","text":"do it","cache_control":{"type":"ephemeral"}}]},)"
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"","signature":""},)"
      R"({"type":"tool_use","id":"functions_f_0","name":"f","input":{"a":1},"caller":{"type":"direct"}}]},)"
      R"({"role":"user","content":[{"tool_use_id":"functions_f_0","type":"tool_result","content":)"
      R"([{"type":"tool_reference","tool_name":"mcp__server-x__tool_1"}]},)"
      R"({"type":"text","text":"Tool loaded."}]}])";
  const Json message = message_of(api, fields, messages);
  EXPECT_EQ(message["stop_reason"], "tool_use");
}

}  // namespace
}  // namespace daybreak::api
