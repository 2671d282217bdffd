// SPDX-License-Identifier: Apache-2.0
#include "chat/response_json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <limits>
#include <string>

namespace daybreak::chat {
namespace {

const ReplyHead kHead{.id = "chatcmpl-1", .created = 1700000000, .model = "k3"};
constexpr TokenUsage kUsage{
    .prompt_tokens = 10, .completion_tokens = 7, .cached_tokens = 4, .reasoning_tokens = 3};
constexpr std::string_view kUsageJson =
    R"({"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"cached_tokens":4,)"
    R"("prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}})";
const std::string kChunkHead =
    R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"k3","choices":[)";

void expect_json(const std::string& text) {
  simdjson::dom::parser parser;
  EXPECT_EQ(parser.parse(text).error(), simdjson::SUCCESS) << text;
}

TEST(ResponseJson, CompletionHasOpenAisShape) {
  CompletionChoice choice{.index = 0,
                          .message = {"why", "", {{"f", "{\"a\":1}", true}}},
                          .tool_call_ids = {"call_x"},
                          .finish_reason = "tool_calls",
                          .logprobs = {}};
  EXPECT_EQ(
      chat_completion_json(kHead, {&choice, 1}, kUsage),
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"k3","choices":[)"
      R"({"index":0,"message":{"role":"assistant","content":"","reasoning_content":"why","reasoning":"why",)"
      R"("tool_calls":[{"id":"call_x","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},)"
      R"("logprobs":null,"finish_reason":"tool_calls"}],"usage":)" +
          std::string(kUsageJson) + "}");
}

TEST(ResponseJson, PlainAnswerHasNeitherReasoningNorCalls) {
  std::vector<CompletionChoice> choices(2);
  choices[1].index = 1;
  choices[1].message.content = "hi";
  const std::string json = chat_completion_json(kHead, choices, kUsage);
  EXPECT_NE(json.find(R"({"index":1,"message":{"role":"assistant","content":"hi"},)"),
            std::string::npos);
  expect_json(json);
}

TEST(ResponseJson, ChunksHaveOpenAisShape) {
  using Kind = OutputEvent::Kind;
  const std::string open = R"(,"logprobs":null,"finish_reason":null}]})";
  EXPECT_EQ(role_chunk_json(kHead, 2),
            kChunkHead + R"({"index":2,"delta":{"role":"assistant","content":""})" + open);
  EXPECT_EQ(
      event_chunk_json(kHead, 0, {Kind::kReasoning, "a\"", {}, 0}),
      kChunkHead + R"({"index":0,"delta":{"reasoning_content":"a\"","reasoning":"a\""})" + open);
  EXPECT_EQ(event_chunk_json(kHead, 0, {Kind::kContent, "b", {}, 0}),
            kChunkHead + R"({"index":0,"delta":{"content":"b"})" + open);
  EXPECT_EQ(
      event_chunk_json(kHead, 0, {Kind::kToolCallBegin, {}, "get_time", 1}, "call_x"),
      kChunkHead +
          R"({"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_x","type":"function","function":{"name":"get_time","arguments":""}}]})" +
          open);
  EXPECT_EQ(
      event_chunk_json(kHead, 0, {Kind::kToolArguments, "{\"a\":", {}, 1}, "call_x"),
      kChunkHead +
          R"({"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"a\":"}}]})" +
          open);
  EXPECT_EQ(event_chunk_json(kHead, 0, {Kind::kToolCallEnd, {}, {}, 1}), "");
}

TEST(ResponseJson, EveryKindOfDeltaCanCarryItsTokenIds) {
  using Kind = OutputEvent::Kind;
  const std::vector<TokenId> ids{163'587, 12};
  const std::string internal = R"(,"internal_content":{"token_ids":[163587,12]}})";
  const std::string open = R"(,"logprobs":null,"finish_reason":null}]})";
  EXPECT_EQ(event_chunk_json(kHead, 0, {Kind::kReasoning, "a", {}, 0}, {}, nullptr, ids),
            kChunkHead + R"({"index":0,"delta":{"reasoning_content":"a","reasoning":"a")" +
                internal + open);
  EXPECT_EQ(event_chunk_json(kHead, 0, {Kind::kContent, "b", {}, 0}, {}, nullptr, ids),
            kChunkHead + R"({"index":0,"delta":{"content":"b")" + internal + open);
  for (const Kind kind : {Kind::kToolCallBegin, Kind::kToolArguments}) {
    const std::string json = event_chunk_json(kHead, 0, {kind, "{", "f", 1}, "id", nullptr, ids);
    EXPECT_NE(json.find("}}]" + internal + open), std::string::npos) << json;
    expect_json(json);
  }
}

TEST(ResponseJson, UsageHasEveryDetailAlsoWhenItIsZero) {
  EXPECT_EQ(usage_json({}),
            R"({"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"cached_tokens":0,)"
            R"("prompt_tokens_details":{"cached_tokens":0},)"
            R"("completion_tokens_details":{"reasoning_tokens":0}})");
}

TEST(ResponseJson, UsageStandsInTheLastChunkAndAfterIt) {
  EXPECT_EQ(finish_chunk_json(kHead, 0, "stop", kUsage),
            kChunkHead +
                R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","usage":)" +
                std::string(kUsageJson) + "}]}");
  EXPECT_EQ(usage_chunk_json(kHead, kUsage),
            kChunkHead + "],\"usage\":" + std::string(kUsageJson) + "}");
}

TEST(ResponseJson, LogprobsCarryTheBytesOfBrokenTokens) {
  const std::vector<TokenLogprobs> tokens{{"\xF0\xA0", -0.5F, {{"a", -0.5F}, {"b", -INFINITY}}}};
  const std::string json =
      event_chunk_json(kHead, 0, {OutputEvent::Kind::kContent, "x", {}, 0}, {}, &tokens);
  EXPECT_NE(
      json.find(
          R"("logprobs":{"content":[{"token":")"
          "\xEF\xBF\xBD"
          R"(","logprob":-0.5,"bytes":[240,160],"top_logprobs":[{"token":"a","logprob":-0.5,"bytes":[97]},)"
          R"({"token":"b","logprob":-9999,"bytes":[98]}]}],"refusal":null},"finish_reason":null)"),
      std::string::npos)
      << json;
  expect_json(json);
}

TEST(ResponseJson, AnyBytesGiveValidJson) {
  for (int c = 0; c < 256; ++c) {
    const std::string bytes = std::string("a") + static_cast<char>(c) + "b";
    std::string out;
    append_json_text(out, bytes);
    expect_json("[" + out + "]");
    expect_json(error_json({Errc::kIo, bytes}));
    const std::vector<TokenLogprobs> tokens{{bytes, std::numeric_limits<float>::quiet_NaN(), {}}};
    expect_json(event_chunk_json({bytes, 0, bytes}, 0, {OutputEvent::Kind::kContent, bytes, {}, 0},
                                 {}, &tokens));
  }
}

TEST(ResponseJson, ErrorsHaveOpenAisShapeAndNameTheField) {
  EXPECT_EQ(
      error_json({Errc::kInvalidArgument, "messages[3].tool_call_id: expected x, found y"}),
      R"({"error":{"message":"messages[3].tool_call_id: expected x, found y","type":"invalid_request_error",)"
      R"("param":"messages[3].tool_call_id","code":"invalid_argument"}})");
  EXPECT_EQ(
      error_json({Errc::kInvalidArgument, "not valid JSON: lone surrogate"}),
      R"({"error":{"message":"not valid JSON: lone surrogate","type":"invalid_request_error","param":null,"code":"invalid_argument"}})");
  EXPECT_EQ(error_json({Errc::kIo, "disk: full"}),
            R"({"error":{"message":"disk: full","type":"server_error","param":null,"code":"io"}})");
}

// What the packages of OpenAI and the programs on top of them look for.
TEST(ResponseJson, ErrorsHaveTheCodesThatOpenAisClientsKnow) {
  struct Case {
    Error error;
    const char* type;
    const char* param;
    const char* code;
  };
  for (const Case& c : {Case{{Errc::kNotFound, "model: no 'x'", kModelNotFound},
                             "resource_not_found_error",
                             "\"model\"",
                             "model_not_found"},
                        Case{{Errc::kInvalidArgument, "messages: too long", kContextLengthExceeded},
                             "invalid_request_error",
                             "\"messages\"",
                             "context_length_exceeded"},
                        Case{{Errc::kUnauthenticated, "a key: none"},
                             "invalid_authentication_error",
                             "null",
                             "invalid_api_key"},
                        Case{{Errc::kUnauthenticated, "unknown", "incorrect_api_key_error"},
                             "incorrect_api_key_error",
                             "null",
                             "invalid_api_key"},
                        Case{{Errc::kResourceLimit, "full"},
                             "engine_overloaded_error",
                             "null",
                             "rate_limit_exceeded"},
                        Case{{Errc::kResourceLimit, "x", "rate_limit_reached_error"},
                             "rate_limit_reached_error",
                             "null",
                             "rate_limit_exceeded"},
                        Case{{Errc::kTooLarge, "x", "exceeded_current_quota_error"},
                             "exceeded_current_quota_error",
                             "null",
                             "insufficient_quota"},
                        Case{{Errc::kPermission, "model: not yours"},
                             "permission_denied_error",
                             "\"model\"",
                             "permission"},
                        Case{{Errc::kNotFound, "no such path: /x"},
                             "resource_not_found_error",
                             "null",
                             "not_found"}}) {
    EXPECT_EQ(error_json(c.error), R"({"error":{"message":")" + c.error.message + R"(","type":")" +
                                       c.type + R"(","param":)" + c.param + R"(,"code":")" +
                                       c.code + "\"}}");
  }
}

TEST(ResponseJson, EveryErrorCodeHasATypeClientsKnow) {
  EXPECT_EQ(error_type(Errc::kInvalidArgument), "invalid_request_error");
  EXPECT_EQ(error_type(Errc::kTooLarge), "invalid_request_error");
  EXPECT_EQ(error_type(Errc::kUnsupported), "invalid_request_error");
  EXPECT_EQ(error_type(Errc::kUnauthenticated), "invalid_authentication_error");
  EXPECT_EQ(error_type(Errc::kPermission), "permission_denied_error");
  EXPECT_EQ(error_type(Errc::kNotFound), "resource_not_found_error");
  EXPECT_EQ(error_type(Errc::kResourceLimit), "engine_overloaded_error");
  EXPECT_EQ(error_type(Errc::kCancelled), "request_cancelled");
  EXPECT_EQ(error_type(Errc::kCorrupt), "server_error");
  EXPECT_EQ(error_type(Errc::kIo), "server_error");
  EXPECT_EQ(error_type(Errc::kUnavailable), "server_unavailable");
  EXPECT_EQ(error_type(Errc::kDeadline), "timeout_error");
}

}  // namespace
}  // namespace daybreak::chat
