// SPDX-License-Identifier: Apache-2.0
// Completion requests that are wrong: refused with the field, never answered as something else.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "api/completion_test_client.h"

namespace daybreak::api {
namespace {

struct Bad {
  const char* body;
  const char* param;
};

TEST(CompletionFault, EveryFieldThatIsWrongIsNamed) {
  TestApi api(TestApi::says("x"));
  for (const Bad& bad : {
           Bad{R"({})", "prompt"},
           Bad{R"({"prompt":null})", "prompt"},
           Bad{R"({"prompt":7})", "prompt"},
           Bad{R"({"prompt":{}})", "prompt"},
           Bad{R"({"prompt":[]})", "prompt"},
           Bad{R"({"prompt":""})", "prompt"},
           Bad{R"({"prompt":["a",""]})", "prompt[1]"},
           Bad{R"({"prompt":["a",1]})", "prompt[1]"},
           Bad{R"({"prompt":[1,"a"]})", "prompt[1]"},
           Bad{R"({"prompt":[1,-1]})", "prompt[1]"},
           Bad{R"({"prompt":[1,1.5]})", "prompt[1]"},
           Bad{R"({"prompt":[99999999]})", "prompt[0]"},
           Bad{R"({"prompt":[[1],[]]})", "prompt[1]"},
           Bad{R"({"prompt":[[1],"a"]})", "prompt[1]"},
           Bad{R"({"prompt":[[1],[2,"a"]]})", "prompt[1][1]"},
           Bad{R"({"prompt":[null]})", "prompt[0]"},
           Bad{R"({"prompt":"a","suffix":"b"})", "suffix"},
           Bad{R"({"prompt":"a","suffix":""})", "suffix"},
           Bad{R"({"prompt":"a","max_tokens":-1})", "max_tokens"},
           Bad{R"({"prompt":"a","max_tokens":"5"})", "max_tokens"},
           Bad{R"({"prompt":"a","max_tokens":9999999})", "prompt"},
           Bad{R"({"prompt":"a","min_tokens":17})", "min_tokens"},
           Bad{R"({"prompt":"a","max_tokens":0,"min_tokens":1})", "min_tokens"},
           Bad{R"({"prompt":"a","logprobs":true})", "logprobs"},
           Bad{R"({"prompt":"a","logprobs":21})", "logprobs"},
           Bad{R"({"prompt":"a","logprobs":-1})", "logprobs"},
           Bad{R"({"prompt":"a","prompt_logprobs":21})", "prompt_logprobs"},
           Bad{R"({"prompt":"a","prompt_logprobs":-1})", "prompt_logprobs"},
           Bad{R"({"prompt":"a","prompt_logprobs":0,"stream":true})", "prompt_logprobs"},
           Bad{R"({"prompt":"a","echo":"yes"})", "echo"},
           Bad{R"({"prompt":"a","n":0})", "n"},
           Bad{R"({"prompt":"a","n":9})", "n"},
           Bad{R"({"prompt":"a","best_of":2})", "best_of"},
           Bad{R"({"prompt":"a","n":2,"best_of":3})", "best_of"},
           Bad{R"({"prompt":"a","stream":1})", "stream"},
           Bad{R"({"prompt":"a","stream_options":{"include_usage":1}})",
               "stream_options.include_usage"},
           Bad{R"({"prompt":"a","temperature":3})", "temperature"},
           Bad{R"({"prompt":"a","stop":[""]})", "stop[0]"},
           Bad{R"({"prompt":"a","stop_token_ids":["a"]})", "stop_token_ids[0]"},
           Bad{R"({"prompt":"a","skip_special_tokens":0})", "skip_special_tokens"},
           Bad{R"({"prompt":"a","add_special_tokens":0})", "add_special_tokens"},
           Bad{R"({"prompt":"a","allow_special":0})", "allow_special"},
           Bad{R"({"prompt":"a","return_token_ids":0})", "return_token_ids"},
           Bad{R"({"prompt":"a","guided_regex":"("})", "guided_regex"},
           Bad{R"({"prompt":"a","guided_regex":"a","guided_choice":["a"]})", "guided_choice"},
           Bad{R"({"prompt":"a","response_format":{"type":"xml"}})", "response_format.type"},
       }) {
    const std::string reply = api.post(bad.body, kCompletions);
    const Json error = Json::parse(testing::body_of(reply))["error"];
    EXPECT_EQ(error["param"], bad.param) << bad.body << reply;
    EXPECT_EQ(testing::status_of(reply), 400) << bad.body << reply;
    EXPECT_EQ(error["type"], "invalid_request_error") << bad.body;
  }
  EXPECT_TRUE(api.engine.requests().empty());
  EXPECT_EQ(testing::status_of(api.post(R"({"prompt":"a","model":"gpt-9"})", kCompletions)), 404);
  EXPECT_EQ(testing::status_of(api.post("{", kCompletions)), 400);
  EXPECT_EQ(testing::status_of(api.post(R"({"prompt":"a","prompt":"b"})", kCompletions)), 400);
  EXPECT_EQ(testing::status_of(api.get(kCompletions)), 405);
}

TEST(CompletionFault, IdsBeyondTheContextAreToldAsTextIs) {
  TestApi api(TestApi::says("x"), {.engine = {.context_tokens = 10}});
  std::string ids = "[1";
  for (int i = 0; i < 11; ++i) {
    ids += ",1";
  }
  const auto error = [&](const std::string& prompt) {
    const std::string reply = api.post(completion_body("", prompt), kCompletions);
    EXPECT_EQ(testing::status_of(reply), 400) << reply;
    return Json::parse(testing::body_of(reply))["error"];
  };
  const Json alone = error(ids + "]");
  EXPECT_EQ(alone["code"], "context_length_exceeded");
  EXPECT_EQ(alone["param"], "prompt");
  const std::string message = alone["message"];
  EXPECT_TRUE(
      message.starts_with("prompt: Input token length too long: the prompt has 12 tokens, "))
      << message;
  EXPECT_NE(message.find("10"), std::string::npos) << message;
  const Json second = error("[[1]," + ids + "]]");
  EXPECT_EQ(second["code"], "context_length_exceeded");
  EXPECT_EQ(second["param"], "prompt[1]");
  EXPECT_TRUE(api.engine.requests().empty());
}

TEST(CompletionFault, ListsAndLogprobsHaveBounds) {
  TestApi api(TestApi::says("x"));
  std::string prompts = "[\"a\"";
  for (int i = 0; i < 128; ++i) {
    prompts += ",\"a\"";
  }
  EXPECT_EQ(testing::status_of(api.post(completion_body("", prompts + "]"), kCompletions)), 400);
  std::string ids = "[1";
  for (int i = 0; i < 7000; ++i) {
    ids += ",1";
  }
  const std::string reply =
      api.post(completion_body(R"("echo":true,"max_tokens":0,"logprobs":20,"n":8)", ids + "]"),
               kCompletions);
  EXPECT_EQ(testing::status_of(reply), 400);
  EXPECT_EQ(Json::parse(testing::body_of(reply))["error"]["param"], "logprobs");
  EXPECT_TRUE(api.engine.requests().empty());
}

TEST(CompletionFault, LogprobsOfPromptsAreBoundedOverAllRequests) {
  TestApi api([](const engine::GenerateRequest&) {
    engine::Script script;
    script.hang = true;
    return script;
  });
  std::string ids = "[1";
  for (int i = 1; i < 5900; ++i) {
    ids += ",1";
  }
  const std::string body =
      completion_body(R"("max_tokens":0,"prompt_logprobs":20,"n":8)", ids + "]");
  const std::string small = completion_body(R"("max_tokens":0,"prompt_logprobs":20)", "[1,2]");
  {
    RawClient first(api.server->port());
    first.send(TestApi::request_text(body, kCompletions));
    RawClient second(api.server->port());
    second.send(TestApi::request_text(body, kCompletions));
    ASSERT_TRUE(eventually([&] { return api.engine.requests().size() == 16; }));
    const std::string refused = api.post(body, kCompletions);
    EXPECT_EQ(testing::status_of(refused), 429) << refused;
    EXPECT_NE(refused.find("Retry-After"), std::string::npos);
    EXPECT_NE(refused.find("log-probabilities of prompts"), std::string::npos);
    RawClient other(api.server->port());  // what is left is given
    other.send(TestApi::request_text(small, kCompletions));
    ASSERT_TRUE(eventually([&] { return api.engine.requests().size() == 17; }));
  }
  ASSERT_TRUE(eventually([&] { return api.engine.stats().finished_cancelled == 17; }));
  RawClient again(api.server->port());
  again.send(TestApi::request_text(body, kCompletions));
  EXPECT_TRUE(eventually([&] { return api.engine.requests().size() == 25; }))
      << "given back with the client";
}

// Of answers that are sent whole, which are refused where others hold too many.
TEST(CompletionFault, LogprobsOfAnswersAreBoundedOverAllRequests) {
  TestApi api(
      [](const engine::GenerateRequest& request) {
        engine::Script script;
        script.ids = {5};
        script.length = request.max_tokens;
        script.finish = engine::FinishReason::kLength;
        if (request.sampling.seed == 7) {
          script.length -= 1;
          script.hang = true;
        }
        return script;
      },
      {.engine = {.max_sequences = 64}});
  const auto text = [](std::size_t tokens, const std::string& more = "") {
    return completion_body(R"("logprobs":20,"max_tokens":)" + std::to_string(tokens) + more);
  };
  const std::string chat =
      R"({"messages":[{"role":"user","content":"x"}],"logprobs":true,"top_logprobs":20,)"
      R"("max_tokens":3000)";
  {
    // 1,600 are left; none of them has more than may wait for a slow reader. A question that is
    // asked too early takes what the last of them needs, which is then refused: they begin again.
    std::vector<std::unique_ptr<RawClient>> clients;
    const auto full = [&] {
      const std::uint64_t before = api.engine.stats().generated_tokens;
      clients.clear();
      for (const std::size_t tokens : {60'000UL, 60'000UL, 60'000UL, 10'400UL}) {
        clients.push_back(std::make_unique<RawClient>(api.server->port()));
        clients.back()->send(TestApi::request_text(text(tokens, R"(,"seed":7)"), kCompletions));
      }
      eventually([&] { return api.engine.stats().generated_tokens - before >= 190'396; });
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return testing::status_of(api.post(text(100), kCompletions)) == 429;
    };
    bool filled = full();
    for (int again = 0; again < 20 && !filled; ++again) {
      clients.clear();
      ASSERT_TRUE(eventually([&] { return api.engine.stats().running == 0; }));
      filled = full();
    }
    ASSERT_TRUE(filled);
    for (const std::string& refused :
         {api.post(text(5'000), kCompletions), api.post(chat + "}"),
          api.post(R"({"input":"x","include":["message.output_text.logprobs"],"top_logprobs":20,)"
                   R"("max_output_tokens":3000,"stream":true})",
                   "/v1/responses")}) {
      EXPECT_EQ(testing::status_of(refused), 429) << refused;
      EXPECT_NE(refused.find("Retry-After: 1"), std::string::npos) << refused;
      EXPECT_NE(refused.find("log-probabilities: other requests hold too many"), std::string::npos)
          << refused;
    }
    // A little is left for a short one, and streams hold none.
    EXPECT_EQ(testing::status_of(api.post(text(50), kCompletions)), 200);
    EXPECT_EQ(api.post_stream(chat + R"(,"stream":true})").back(), "[DONE]");
    EXPECT_EQ(api.engine.stats().finished_error, 0U);
  }
  ASSERT_TRUE(eventually([&] { return api.engine.stats().running == 0; }));
  // Nothing is held any more.
  EXPECT_EQ(testing::status_of(api.post(text(60'000), kCompletions)), 200);
}

// Waiting helps nobody whose answers alone have more than one caller may hold.
TEST(CompletionFault, LogprobsThatNeverFitAreRefusedBeforeAnythingIsGenerated) {
  TestApi api(TestApi::says("x"));
  const std::string chat = R"({"messages":[{"role":"user","content":"x"}],"logprobs":true,"n":2,)"
                           R"("top_logprobs":19)";
  const std::string text = R"("logprobs":19,"max_tokens":)";
  for (const std::string& refused :
       {api.post(chat + R"(,"max_tokens":100001})"),
        api.post(completion_body(text + "100001", "[[1],[2]]"), kCompletions),
        api.post(R"({"input":"x","include":["message.output_text.logprobs"],"top_logprobs":19,)"
                 R"("max_output_tokens":200001,"stream":true})",
                 "/v1/responses")}) {
    EXPECT_EQ(testing::status_of(refused), 413) << refused;
    EXPECT_NE(refused.find("x-should-retry: false\r\n"), std::string::npos) << refused;
    EXPECT_EQ(refused.find("Retry-After"), std::string::npos) << refused;
    EXPECT_NE(refused.find("expected at most 4000000 kept"), std::string::npos) << refused;
  }
  EXPECT_TRUE(api.engine.requests().empty());
  // What fits exactly, what is a default, and a stream, which keeps none.
  EXPECT_EQ(testing::status_of(api.post(chat + R"(,"max_tokens":100000})")), 200);
  EXPECT_EQ(testing::status_of(api.post(chat + "}")), 200);
  EXPECT_EQ(api.post_stream(chat + R"(,"max_tokens":100001,"stream":true})").back(), "[DONE]");
}

TEST(CompletionFault, TheContextIsABoundAndOnlyTheDefaultIsCut) {
  TestApi api(TestApi::says("x"), {.engine = {.context_tokens = 10}});
  const auto param = [&](const std::string& more, const std::string& prompt) {
    const std::string reply = api.post(completion_body(more, prompt), kCompletions);
    const Json body = Json::parse(testing::body_of(reply));
    return body.contains("error") ? body["error"]["param"].dump() : "fine";
  };
  EXPECT_EQ(param("", "[1,2,3,4,5,6]"), "fine");
  EXPECT_EQ(api.engine.requests().at(0).max_tokens, 4U);
  EXPECT_EQ(param(R"("max_tokens":5)", "[1,2,3,4,5,6]"), "\"prompt\"");
  EXPECT_EQ(param(R"("max_tokens":0)", "[1,2,3,4,5,6,7,8,9,10]"), "fine");
  EXPECT_EQ(param("", "[[1],[1,2,3,4,5,6,7,8,9,10]]"), "\"prompt[1]\"");
}

TEST(CompletionFault, AFailureIsAStatusBeforeTheFirstTokenAndAnEventAfterIt) {
  std::vector<TokenId> ids;
  TestApi api([&](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = ids;
    script.error = Error{Errc::kIo, "disk on fire"};
    script.delay_per_token = std::chrono::milliseconds(20);
    return script;
  });
  for (const char* stream : {R"("stream":false)", R"("stream":true)"}) {
    EXPECT_EQ(testing::status_of(api.post(completion_body(stream), kCompletions)), 500);
  }
  ids = chat::shapes::encode(*api.tokenizer, "some words");
  const auto events = api.post_stream(completion_body(R"("stream":true)"), kCompletions);
  EXPECT_TRUE(Json::parse(events.back()).contains("error"));
}

TEST(CompletionFault, AClientThatLeavesStopsEveryChoice) {
  TestApi api([](const engine::GenerateRequest&) {
    engine::Script script;
    script.hang = true;
    return script;
  });
  {
    RawClient client(api.server->port());
    client.send(TestApi::request_text(completion_body(R"("n":2)", R"(["a","b"])"), kCompletions));
    EXPECT_TRUE(eventually([&] { return api.engine.stats().running == 4; }));
  }
  EXPECT_TRUE(eventually([&] { return api.engine.stats().finished_cancelled == 4; }));
}

TEST(CompletionFault, UnknownFieldsAreListed) {
  TestApi api(TestApi::says("x"));
  const std::string reply = api.post(completion_body(R"("zzz":1,"request_id":"a")"), kCompletions);
  EXPECT_NE(reply.find("x-daybreak-ignored-fields: zzz, request_id\r\n"), std::string::npos)
      << reply;
  const std::string format = R"("response_format":{"type":"text","foo":1})";
  EXPECT_NE(api.post(completion_body(format), kCompletions)
                .find("x-daybreak-ignored-fields: response_format.foo\r\n"),
            std::string::npos);
}

}  // namespace
}  // namespace daybreak::api
