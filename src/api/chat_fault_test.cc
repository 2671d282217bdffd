// SPDX-License-Identifier: Apache-2.0
// Bad requests, full queues, failing engines and clients that leave.

#include <gtest/gtest.h>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using engine::GenerateRequest;
using engine::Script;
using testing::body_of;
using testing::status_of;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Script hanging(const GenerateRequest&) {
  Script script;
  script.hang = true;
  return script;
}

struct BadCase {
  std::string body;
  int status;
  std::string says;
};

std::string nested(std::size_t depth) {
  return chat_body(R"("metadata":)" + std::string(depth, '[') + std::string(depth, ']'));
}

std::vector<BadCase> bad_cases() {
  const std::string lone = R"({"model":"nano","messages":[{"role":"user","content":"\ud800"}]})";
  return {
      {"", 400, ""},
      {"{", 400, ""},
      {"[]", 400, ""},
      {"null", 400, ""},
      {R"({"model":"nano"})", 400, "messages"},
      {R"({"model":"nano","messages":[]})", 400, "messages"},
      {chat_body() + "x", 400, ""},
      {chat_body(R"("n":0)"), 400, "n"},
      {chat_body(R"("temperature":2.5)"), 400, "temperature"},
      {chat_body(R"("temperature":"hot")"), 400, "temperature"},
      {chat_body(R"("top_logprobs":21,"logprobs":true)"), 400, "top_logprobs"},
      {chat_body(R"("tool_choice":"required")"), 400, "tool_choice"},
      {chat_body(R"("seed":1,"seed":2)"), 400, "seed"},
      {lone, 400, ""},
      {"{\"model\":\"nano\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}", 400, ""},
      {nested(100'000), 400, "deeper than 64 levels"},
      {R"({"model":"gpt","messages":[{"role":"user","content":"hi"}]})", 404, "gpt"},
      {chat_body(R"("max_tokens":99999999)"), 400, "max_tokens asks for 99999999 more"},
      {chat_body(R"("logit_bias":{"99999999":1})"), 400, "logit_bias"},
  };
}

TEST(ChatFault, BadRequestsAreRefusedInOpenAisShape) {
  TestApi api(hanging);
  for (const BadCase& bad : bad_cases()) {
    for (const bool stream : {false, true}) {
      std::string body = bad.body;
      if (stream && body.ends_with("}") && body.size() > 40) {
        body.insert(1, R"("stream":true,)");
      }
      SCOPED_TRACE(body.substr(0, 120));
      const std::string reply = api.post(body);
      EXPECT_EQ(status_of(reply), bad.status) << reply;
      const Json json = Json::parse(body_of(reply), nullptr, false);
      ASSERT_TRUE(json.is_object()) << reply;
      EXPECT_TRUE(json["error"]["message"].is_string());
      EXPECT_EQ(json["error"]["type"],
                bad.status == 404 ? "resource_not_found_error" : "invalid_request_error");
      EXPECT_NE(json["error"]["message"].get<std::string>().find(bad.says), std::string::npos)
          << reply;
    }
  }
  EXPECT_EQ(api.engine.requests().size(), 0U);
}

TEST(ChatFault, LengthThatDoesNotFitNamesTheFieldSentAndWhatLimitsIt) {
  struct Case {
    std::string fields;
    std::string field;
    std::size_t model_context;
    std::string limit;
  };
  const std::string server = "this server keeps at most 1000 tokens per sequence (max_positions)";
  const std::string model = "the context of this model has 1000";
  for (const Case& c :
       {Case{R"("max_tokens":5000)", "max_tokens", 1001, server},
        Case{R"("max_completion_tokens":5000)", "max_completion_tokens", 1001, server},
        Case{R"("max_tokens":5,"max_completion_tokens":5000)", "max_completion_tokens", 1000,
             model},
        Case{R"("max_tokens":5000,"max_completion_tokens":null)", "max_tokens", 0, model}}) {
    SCOPED_TRACE(c.fields);
    TestApi api(hanging, {.engine = {.context_tokens = 1000}, .model_context = c.model_context});
    const std::string reply = api.post(chat_body(c.fields));
    EXPECT_EQ(status_of(reply), 400);
    const Json error = Json::parse(body_of(reply))["error"];
    EXPECT_EQ(error["param"], "messages");
    EXPECT_EQ(error["code"], "context_length_exceeded");
    const std::string message = error["message"];
    EXPECT_NE(message.find(" tokens and " + c.field + " asks for 5000 more, "), std::string::npos)
        << message;
    EXPECT_TRUE(message.ends_with(c.limit)) << message;
  }
}

TEST(ChatFault, ErrorsOfTheHttpLayerHaveTheSameShape) {
  TestApi api(hanging, {.limits = {.body_bytes = 4096}});
  const std::string large = api.post(std::string(8U << 20U, ' '));
  EXPECT_EQ(status_of(large), 413);
  EXPECT_NE(Json::parse(body_of(large))["error"]["message"].get<std::string>().find("4096"),
            std::string::npos);
  const std::string method = api.post("{}", "/health");
  EXPECT_EQ(status_of(method), 405);
  EXPECT_EQ(Json::parse(body_of(method))["error"]["type"], "invalid_request_error");
  const std::string path = api.post("{}", "/v1/nothing");
  EXPECT_EQ(status_of(path), 404);
  EXPECT_EQ(Json::parse(body_of(path))["error"]["type"], "resource_not_found_error");
  RawClient client(api.server->port());
  client.send("nonsense\r\n\r\n");
  const std::string malformed = client.read_response();
  EXPECT_EQ(status_of(malformed), 400);
  EXPECT_EQ(Json::parse(body_of(malformed))["error"]["type"], "invalid_request_error");
}

TEST(ChatFault, MegabyteOfOneCharacterIsAnsweredWhileOthersAre) {
  TestApi api(TestApi::says("ok<|end_of_msg|>"), {.limits = {.body_bytes = 4U << 20U}});
  const std::string body = R"({"model":"nano","messages":[{"role":"user","content":")" +
                           std::string(1U << 20U, 'a') + R"("}],"max_tokens":5})";
  std::atomic<bool> done{false};
  std::thread big([&] {
    const std::string reply = api.post(body);
    EXPECT_TRUE(status_of(reply) == 200 || status_of(reply) == 400) << reply.substr(0, 500);
    done = true;
  });
  int answered = 0;
  do {
    EXPECT_EQ(status_of(api.get("/health")), 200);
    ++answered;
  } while (!done);
  big.join();
  EXPECT_GT(answered, 0);
}

TEST(ChatFault, PromptBeyondTheContextIsRefusedByNumber) {
  TestApi api(hanging, {.engine = {.context_tokens = 20}});
  const std::string reply = api.post(chat_body());
  EXPECT_EQ(status_of(reply), 400);
  EXPECT_NE(reply.find("Input token length too long"), std::string::npos) << reply;
  EXPECT_NE(reply.find("has 20"), std::string::npos) << reply;
}

// The same two errors by every route that has OpenAI's shape.
TEST(ChatFault, UnknownModelsAndLongPromptsHaveOpenAisCodes) {
  TestApi api(hanging, {.engine = {.context_tokens = 20}});
  const std::string text = std::string(500, 'x') + "\"";
  const std::string message = R"("messages":[{"role":"user","content":")" + text + "}]";
  struct Case {
    const char* path;
    std::string rest;
    const char* param;
  };
  for (const Case& c : {Case{"/v1/chat/completions", message, "messages"},
                        Case{"/invocations", message, "messages"},
                        Case{"/v1/completions", R"("prompt":")" + text, "prompt"},
                        Case{"/v1/responses", R"("input":")" + text, "input"}}) {
    const std::string unknown = api.post(R"({"model":"gpt-4o",)" + c.rest + "}", c.path);
    EXPECT_EQ(status_of(unknown), 404) << c.path;
    const Json missing = Json::parse(body_of(unknown))["error"];
    EXPECT_EQ(missing["code"], "model_not_found") << c.path;
    EXPECT_EQ(missing["param"], "model") << c.path;
    const std::string reply = api.post(R"({"model":"nano",)" + c.rest + "}", c.path);
    EXPECT_EQ(status_of(reply), 400) << c.path << reply;
    const Json error = Json::parse(body_of(reply))["error"];
    EXPECT_EQ(error["code"], "context_length_exceeded") << c.path;
    EXPECT_EQ(error["param"], c.param) << c.path;
  }
  const std::string name = api.get("/v1/models/gpt-4o");
  EXPECT_EQ(Json::parse(body_of(name))["error"]["code"], "model_not_found") << name;
}

TEST(ChatFault, ClientThatLeavesBeforeTheFirstByteStopsTheEngine) {
  for (const char* more : {"", R"("stream":true)", R"("n":3)"}) {
    SCOPED_TRACE(more);
    TestApi api(hanging);
    const std::size_t choices = std::string_view(more) == R"("n":3)" ? 3 : 1;
    {
      RawClient client(api.server->port());
      client.send(TestApi::request_text(chat_body(more), "/v1/chat/completions"));
      ASSERT_TRUE(eventually([&] { return api.engine.requests().size() == choices; }));
      EXPECT_EQ(api.engine.stats().finished_cancelled, 0U);
    }
    EXPECT_TRUE(eventually([&] { return api.engine.stats().finished_cancelled == choices; }));
    EXPECT_TRUE(eventually([&] { return api.logged().find("status=499") != std::string::npos; }));
  }
}

TEST(ChatFault, ClientThatLeavesMidStreamStopsTheEngine) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const GenerateRequest&) {
    Script script;
    script.ids = chat::shapes::encode(*tokenizer, "hello");
    script.hang = true;
    return script;
  });
  {
    RawClient client(api.server->port());
    client.send(TestApi::request_text(chat_body(R"("stream":true)"), "/v1/chat/completions"));
    EXPECT_NE(client.read_until("reasoning_content").find("200 OK"), std::string::npos);
    EXPECT_EQ(api.engine.stats().finished_cancelled, 0U);
  }
  EXPECT_TRUE(eventually([&] { return api.engine.stats().finished_cancelled == 1; }));
}

TEST(ChatFault, FullQueueIs429WithRetryAfterAndLeavesNothingBehind) {
  TestApi api(hanging, {.engine = {.max_sequences = 1, .max_queue = 1}});
  RawClient first(api.server->port());
  first.send(TestApi::request_text(chat_body(), "/v1/chat/completions"));
  ASSERT_TRUE(eventually([&] { return api.engine.requests().size() == 1; }));
  const std::string reply = api.post(chat_body(R"("n":2)"));
  EXPECT_EQ(status_of(reply), 429) << reply;
  EXPECT_NE(reply.find("Retry-After: "), std::string::npos);
  const Json error = Json::parse(body_of(reply))["error"];
  EXPECT_EQ(error["type"], "engine_overloaded_error");
  EXPECT_EQ(error["code"], "rate_limit_exceeded");
  EXPECT_EQ(error["message"],
            "the server is busy: 1 requests wait already, as many as may; try again later");
  // The one that had been accepted is not left running.
  EXPECT_TRUE(eventually([&] { return api.engine.stats().finished_cancelled == 1; }));
}

// Trying again would never help.
TEST(ChatFault, MoreChoicesThanTheQueueEverHoldsAreRefusedInAdvance) {
  TestApi api(TestApi::says("ok"), {.engine = {.max_sequences = 1, .max_queue = 2}});
  const auto refused = [&](const std::string& body, const std::string& path) {
    const std::string reply = api.post(body, path);
    EXPECT_EQ(status_of(reply), 400) << reply;
    return Json::parse(body_of(reply))["error"];
  };
  const std::string rule =
      ": expected at most 3 choices in all, the requests that can wait here "
      "(max_queue), found ";
  const Json chat = refused(chat_body(R"("n":4)"), "/v1/chat/completions");
  EXPECT_EQ(chat["message"], "n" + rule + "4");
  EXPECT_EQ(chat["param"], "n");
  const Json one = refused(R"({"prompt":"a","n":4,"max_tokens":2})", "/v1/completions");
  EXPECT_EQ(one["message"], "n" + rule + "4");
  const Json many = refused(R"({"prompt":["a","b"],"n":2,"max_tokens":2})", "/v1/completions");
  EXPECT_EQ(many["message"], "prompt" + rule + "2 prompts with n of 2");
  EXPECT_TRUE(api.engine.requests().empty());
  EXPECT_EQ(api.engine.stats().rejected, 0U);
  const std::string three = R"({"prompt":["a","b","c"],"max_tokens":2})";
  EXPECT_EQ(status_of(api.post(three, "/v1/completions")), 200);
}

TEST(ChatFault, TheLogTellsThatARequestGaveItsPlaceAway) {
  TestApi api([](const GenerateRequest&) {
    Script script;
    script.error = Error{Errc::kResourceLimit, "engine: expected at most 1 waiting requests"};
    script.displaced = true;
    return script;
  });
  for (const char* more : {"", R"("stream":true)"}) {
    EXPECT_EQ(status_of(api.post(chat_body(more))), 429);
  }
  const auto count = [&] {
    const std::string log = api.logged();
    const std::size_t first = log.find(" displaced=1 ");
    return first == std::string::npos                                  ? 0
           : log.find(" displaced=1 ", first + 1) != std::string::npos ? 2
                                                                       : 1;
  };
  EXPECT_TRUE(eventually([&] { return count() == 2; })) << api.logged();
}

TEST(ChatFault, ErrorBeforeTheFirstTokenIsAStatusInBothForms) {
  TestApi api([](const GenerateRequest&) {
    Script script;
    script.error = Error{Errc::kCorrupt, "logits are not finite"};
    return script;
  });
  for (const char* more : {"", R"("stream":true)"}) {
    const std::string reply = api.post(chat_body(more));
    EXPECT_EQ(status_of(reply), 500) << reply;
    EXPECT_NE(body_of(reply).find("logits are not finite"), std::string::npos);
  }
}

TEST(ChatFault, ErrorInMidStreamIsAnEventAndTheEnd) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const GenerateRequest&) {
    Script script;
    script.ids = chat::shapes::encode(*tokenizer, "hello");
    script.error = Error{Errc::kCorrupt, "logits are not finite"};
    script.delay_per_token = 5ms;
    return script;
  });
  const auto events = api.post_stream(chat_body(R"("stream":true)"));
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(Json::parse(events.back())["error"]["message"], "logits are not finite");
  EXPECT_EQ(std::ranges::find(events, "[DONE]"), events.end());
}

TEST(ChatFault, DrainRefusesNewRequestsAndFinishesOldOnes) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const GenerateRequest&) {
    Script script;
    script.ids = chat::shapes::encode(*tokenizer, "hello you<|end_of_msg|>");
    script.delay_per_token = 20ms;
    return script;
  });
  std::thread old([&] { EXPECT_EQ(status_of(api.post(chat_body())), 200); });
  ASSERT_TRUE(eventually([&] { return api.engine.requests().size() == 1; }));
  api.service->start_draining();
  const std::string refused = api.post(chat_body());
  EXPECT_EQ(status_of(refused), 503);
  EXPECT_EQ(Json::parse(body_of(refused))["error"]["type"], "server_unavailable");
  EXPECT_EQ(api.engine.stop(10s), 0U);
  old.join();
}

TEST(ChatFault, ShutdownThatCutsAnAnswerSaysSo) {
  TestApi api(hanging);
  std::thread cut([&] {
    const std::string reply = api.post(chat_body());
    EXPECT_EQ(status_of(reply), 503) << reply;
    EXPECT_NE(reply.find("shutting down"), std::string::npos);
  });
  ASSERT_TRUE(eventually([&] { return api.engine.requests().size() == 1; }));
  EXPECT_EQ(api.engine.stop(10ms), 1U);
  cut.join();
}

}  // namespace
}  // namespace daybreak::api
