// SPDX-License-Identifier: Apache-2.0
// Bad Anthropic requests, full queues, failing engines and clients that leave.

#include <gtest/gtest.h>

#include "api/anthropic_test_server.h"

namespace daybreak::api {
namespace {

using engine::GenerateRequest;
using engine::Script;
using testing::body_of;
using testing::status_of;
using std::chrono_literals::operator""ms;

Script hanging(const GenerateRequest&) {
  Script script;
  script.hang = true;
  return script;
}

// Checks an error answer; returns its message.
std::string error_of(const std::string& reply, int status, const std::string& type) {
  EXPECT_EQ(status_of(reply), status) << reply;
  const Json json = Json::parse(body_of(reply), nullptr, false);
  EXPECT_TRUE(json.is_object()) << reply;
  if (!json.is_object()) {
    return "";
  }
  EXPECT_EQ(json["type"], "error");
  EXPECT_EQ(json["error"]["type"], type) << reply;
  const std::string id = json["request_id"];
  EXPECT_NE(reply.find("\r\nrequest-id: " + id + "\r\n"), std::string::npos) << reply;
  return json["error"]["message"];
}

// Anthropic's tool runners send it by default, and read this before they ask again without it.
TEST(AnthropicFault, AThreadIsRefusedSoThatClientsGoOnWithoutIt) {
  TestApi api(TestApi::says("ok"));
  const std::string reply =
      api.post(anthropic_body(R"("thread":{"type":"create"})"), "/v1/messages");
  EXPECT_EQ(status_of(reply), 400);
  const Json details = Json::parse(body_of(reply))["error"]["details"];
  EXPECT_EQ(details["error_code"], "thread_unsupported_request");
  EXPECT_EQ(details["unsupported"], Json::parse(R"(["thread"])"));
  const std::string other = api.post(anthropic_body(R"("temperature":"hot")"), "/v1/messages");
  EXPECT_EQ(status_of(other), 400);
  EXPECT_FALSE(Json::parse(body_of(other))["error"].contains("details"));
}

TEST(AnthropicFault, BadRequestsAreRefusedInAnthropicsShape) {
  TestApi api(hanging);
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  struct Case {
    std::string body;
    int status;
    std::string type;
    std::string says;
  };
  for (const Case& c : {
           Case{"", 400, "invalid_request_error", ""},
           Case{"{", 400, "invalid_request_error", ""},
           Case{R"({"model":"nano","messages":[{"role":"user","content":"x"}]})", 400,
                "invalid_request_error", "max_tokens: expected"},
           Case{anthropic_body(R"("x":)" + deep), 400, "invalid_request_error", "deeper than 70"},
           Case{anthropic_body("",
                               R"([{"role":"user","content":"x"},{"role":"tool","content":"y"}])"),
                400, "invalid_request_error",
                R"(messages[1].role: expected "user", "assistant" or "system", found "tool")"},
           Case{R"({"model":"claude","max_tokens":5,"messages":[{"role":"user","content":"x"}]})",
                404, "not_found_error", "no model 'claude' here"},
           Case{anthropic_body("", R"([{"role":"user","content":[{"type":"image","source":)"
                                   R"({"type":"url","url":"http://x"}}]}])"),
                400, "invalid_request_error", "messages[0].content[0]: image input needs"},
           Case{anthropic_body(R"("tools":[{"name":"f","input_schema":{"type":"object"}},)"
                               R"({"name":"g","input_schema":{"type":"nonsense"}}])"),
                400, "invalid_request_error", "tools[1].input_schema"},
           Case{anthropic_body(R"("output_config":{"format":{"type":"json_schema","schema":)"
                               R"({"type":"nonsense"}}})"),
                400, "invalid_request_error", "output_config.format.schema"},
       }) {
    SCOPED_TRACE(c.body.substr(0, 200));
    for (const char* path : {"/v1/messages", "/anthropic/v1/messages"}) {
      const std::string message = error_of(api.post(c.body, path), c.status, c.type);
      EXPECT_TRUE(message.find(c.says) != std::string::npos) << message;
    }
  }
  const std::string count = api.post("{}", "/v1/messages/count_tokens");
  EXPECT_TRUE(error_of(count, 400, "invalid_request_error").starts_with("model: "));
  EXPECT_EQ(api.engine.requests().size(), 0U);
}

TEST(AnthropicFault, WhatTheHttpLayerRefusesHasTheSameShape) {
  TestApi api(hanging, {.limits = {.body_bytes = 4096}});
  for (const char* path : {"/v1/messages", "/anthropic/v1/messages", "/v1/messages/count_tokens"}) {
    const std::string large = api.post(std::string(1U << 20U, ' '), path);
    EXPECT_NE(error_of(large, 413, "request_too_large").find("limit of 4096 bytes"),
              std::string::npos);
    RawClient client(api.server->port());
    client.send("POST " + std::string(path) +
                "?beta=true HTTP/1.1\r\nHost: x\r\nx-request-id: mine\r\nTransfer-Encoding: "
                "chunked\r\n\r\n1001\r\n");
    client.send(std::string(0x1001, ' '));
    const std::string chunked = client.read_response();
    error_of(chunked, 413, "request_too_large");
    EXPECT_NE(chunked.find("\r\nrequest-id: mine\r\n"), std::string::npos) << chunked;
    error_of(api.get(path), 405, "invalid_request_error");
  }
  error_of(api.get("/anthropic/v1/nothing"), 404, "not_found_error");
  const std::string other = api.post(std::string(1U << 20U, ' '));
  EXPECT_TRUE(Json::parse(body_of(other))["error"].contains("code")) << "OpenAI's shape elsewhere";
}

// Clients look for these words.
TEST(AnthropicFault, TooLongIsSaidInTheWordsClientsKnow) {
  TestApi api(hanging, {.engine = {.context_tokens = 1000}});
  const std::string prompt =
      error_of(post_message(api, anthropic_body("", R"([{"role":"user","content":")" +
                                                        std::string(20'000, 'x') + R"("}])")),
               400, "invalid_request_error");
  EXPECT_TRUE(prompt.starts_with("prompt is too long: ")) << prompt;
  EXPECT_TRUE(prompt.ends_with(" tokens > 999 maximum")) << prompt;
  const std::string answer =
      error_of(post_message(api, R"({"model":"nano","max_tokens":990,"messages":)"
                                 R"([{"role":"user","content":"hi"}]})"),
               400, "invalid_request_error");
  EXPECT_TRUE(answer.starts_with("input length and `max_tokens` exceed context limit: ")) << answer;
  EXPECT_NE(answer.find(" + 990 > 1000, decrease"), std::string::npos) << answer;
}

TEST(AnthropicFault, AnswerThatJustFitsIsTaken) {
  TestApi probe(TestApi::says("x<|end_of_msg|>"));
  post_message(probe, anthropic_body());
  const std::size_t prompt = probe.engine.requests().at(0).prompt.size();
  TestApi fits(TestApi::says("x<|end_of_msg|>"), {.engine = {.context_tokens = prompt + 500}});
  EXPECT_EQ(status_of(post_message(fits, anthropic_body())), 200);
  TestApi tight(TestApi::says("x<|end_of_msg|>"), {.engine = {.context_tokens = prompt + 499}});
  EXPECT_EQ(status_of(post_message(tight, anthropic_body())), 400);
}

TEST(AnthropicFault, FullQueueIs429WithRetryAfter) {
  TestApi api(hanging, {.engine = {.max_sequences = 1, .max_queue = 0}});
  RawClient first(api.server->port());
  first.send(TestApi::request_text(anthropic_body(), "/v1/messages"));
  ASSERT_TRUE(eventually([&] { return api.engine.requests().size() == 1; }));
  const std::string reply = post_message(api, anthropic_body());
  error_of(reply, 429, "rate_limit_error");
  EXPECT_NE(reply.find("Retry-After: "), std::string::npos);
}

TEST(AnthropicFault, DrainIsOverloaded) {
  TestApi api(hanging);
  api.service->start_draining();
  error_of(post_message(api, anthropic_body()), 503, "overloaded_error");
}

TEST(AnthropicFault, ErrorBeforeTheFirstTokenIsAStatusInBothForms) {
  TestApi api([](const GenerateRequest&) {
    Script script;
    script.error = Error{Errc::kCorrupt, "logits are not finite"};
    return script;
  });
  for (const char* more : {"", R"("stream":true)"}) {
    EXPECT_EQ(error_of(post_message(api, anthropic_body(more)), 500, "api_error"),
              "logits are not finite");
  }
}

TEST(AnthropicFault, ErrorInMidStreamIsAnEventAndTheEnd) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const GenerateRequest&) {
    Script script;
    script.ids = chat::shapes::encode(*tokenizer, "hello");
    script.error = Error{Errc::kCorrupt, "logits are not finite"};
    script.delay_per_token = 100ms;  // the error comes in a batch of its own
    return script;
  });
  chat::anthropic::StreamReader reader;
  for (const auto& event : stream_events(api, anthropic_body(R"("stream":true)"))) {
    reader.read(event);
  }
  EXPECT_FALSE(reader.whole());
  EXPECT_EQ(reader.message["content"][0]["thinking"], "hello");
  EXPECT_EQ(reader.error["error"]["type"], "api_error");
  EXPECT_EQ(reader.error["error"]["message"], "logits are not finite");
  EXPECT_TRUE(reader.error["request_id"].get<std::string>().starts_with("req-"));
}

TEST(AnthropicFault, ClientThatLeavesMidStreamStopsTheEngine) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const GenerateRequest&) {
    Script script;
    script.ids = chat::shapes::encode(*tokenizer, "hello");
    script.hang = true;
    return script;
  });
  {
    RawClient client(api.server->port());
    client.send(TestApi::request_text(anthropic_body(R"("stream":true)"), "/v1/messages"));
    EXPECT_NE(client.read_until("thinking_delta").find("200 OK"), std::string::npos);
  }
  EXPECT_TRUE(eventually([&] { return api.engine.stats().finished_cancelled == 1; }));
}

}  // namespace
}  // namespace daybreak::api
