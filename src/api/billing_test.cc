// SPDX-License-Identifier: Apache-2.0
// What is billed, and what counts against rates and places: requests that never start, that start
// in part, that ask for many answers, or generate nothing; and a ledger that cannot be written.

#include <gtest/gtest.h>

#include "api/admission_test_server.h"
#include "api/update_mailbox.h"

namespace daybreak::api {
namespace {

class BillingTest : public AdmissionTest {
 protected:
  // Sends a request whose answer is read later, or never.
  std::unique_ptr<RawClient> send(const std::string& body, const std::string& key,
                                  const char* path = kChat) {
    auto client = std::make_unique<RawClient>(api_->server->port());
    client->send("POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + bearer(key) +
                 "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client;
  }
  // One at a time, which says a token and no more.
  void start_slow() {
    start(
        [](const engine::GenerateRequest&) {
          engine::Script script;
          script.ids = {5};
          script.hang = true;
          return script;
        },
        {.engine = {.max_sequences = 1}});
  }
  bool waiting(std::size_t queued) {
    return eventually([&] {
      const engine::Stats stats = api_->engine.stats();
      return stats.running == 1 && stats.queued == queued && stats.generated_tokens >= 1;
    });
  }
};

constexpr const char* kText = "/v1/completions";

TEST_F(BillingTest, WhoLeavesTheQueueHasTakenNothing) {
  const std::string busy = add_key(access::test_settings());
  access::KeySettings settings = access::test_settings();
  settings.limits.requests_per_minute = 1;
  settings.limits.tokens_per_day = 3'000;
  const std::string key = add_key(settings);
  start_slow();
  const auto first = send(chat_body(), busy);
  ASSERT_TRUE(waiting(0));
  for (const char* more : {R"("max_tokens":2000)", R"("max_tokens":2000,"stream":true)",
                           R"("max_tokens":900,"n":2)"}) {
    auto client = send(chat_body(more), key);
    ASSERT_TRUE(waiting(std::string_view(more).ends_with("2") ? 2 : 1)) << more;
    client.reset();
    ASSERT_TRUE(waiting(0)) << more;
    // The rate and the quota come back too: with what this one held the next would be refused.
    ASSERT_TRUE(eventually([&] {
      return post(R"({"messages":[]})", bearer(key))
                 .find("x-ratelimit-remaining-requests: 1\r\n") != std::string::npos;
    })) << more;
  }
  EXPECT_TRUE(entries().empty());
  EXPECT_EQ(api_->engine.requests().size(), 5U);  // n = 2 is two of them
}

TEST_F(BillingTest, WhoIsSentAwayFromTheQueueByAShutdownHasTakenNothing) {
  const std::string key = add_key(access::test_settings());
  start_slow();
  const auto first = send(R"({"prompt":[[5]],"max_tokens":9})", key, kText);
  ASSERT_TRUE(waiting(0));
  const auto queued = send(R"({"prompt":[[6,6]],"max_tokens":9})", key, kText);
  ASSERT_TRUE(waiting(1));
  api_->engine.stop(std::chrono::milliseconds(0));
  EXPECT_EQ(status_of(queued->read_response()), 503);
  EXPECT_EQ(status_of(first->read_response()), 503);
  ASSERT_TRUE(eventually([&] { return !entries().empty(); }));
  const auto rows = entries();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].tokens.prompt, 1);
}

TEST_F(BillingTest, OfSeveralPromptsOnlyThoseAreBilledThatWereStarted) {
  const std::string key = add_key(access::test_settings());
  start_slow();
  auto client = send(R"({"prompt":[[5],[6,6],[7,7,7]],"max_tokens":9,"stream":true})", key, kText);
  client->read_until("data: ");
  ASSERT_TRUE(waiting(2));
  client.reset();
  ASSERT_TRUE(eventually([&] { return !entries().empty(); }));
  EXPECT_EQ(entries()[0].tokens.prompt, 1);
  EXPECT_EQ(entries()[0].tokens.completion, 1);
  EXPECT_EQ(entries()[0].outcome, access::Outcome::kCancelled);
}

// Says `tokens` of them and no more until it is cancelled.
TestApi::ScriptFn says_much(std::size_t tokens) {
  return [tokens](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = {5};
    script.length = tokens;
    script.hang = true;
    return script;
  };
}

TEST_F(BillingTest, WhatWasGeneratedIsBilledWhoeverHasReadIt) {
  const std::string key = add_key(access::test_settings());
  // Of the streams most lies unread when the client leaves. Of the last one more than may lie
  // there: it ends by itself when the server sees that, which may be before all is generated.
  struct Case {
    const char* path;
    std::string body;
    std::size_t tokens;
    std::size_t choices;
  };
  const std::string stream = R"({"prompt":[[5]],"max_tokens":500000,"stream":true,"n":)";
  const std::vector<Case> cases = {
      {kText, R"({"prompt":[[5]],"max_tokens":50,"n":3})", 7, 3},
      {kChat, chat_body(R"("n":2)"), 7, 2},
      {kText, stream + "1}", kMaxWaitingTokens - 10, 1},
      {kChat, chat_body(R"("stream":true,"max_tokens":500000)"), kMaxWaitingTokens - 10, 1},
      {kText, stream + "3}", kMaxWaitingTokens, 3}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    start(says_much(cases[i].tokens));
    auto client = send(cases[i].body, key, cases[i].path);
    const bool overflows = cases[i].tokens * cases[i].choices > kMaxWaitingTokens;
    const std::size_t all = overflows ? kMaxWaitingTokens : cases[i].tokens * cases[i].choices;
    ASSERT_TRUE(eventually([&] { return api_->engine.stats().generated_tokens >= all; }));
    client.reset();
    ASSERT_TRUE(eventually([&] { return entries().size() == i + 1; }));
    const access::Usage entry = entries().back();
    ASSERT_TRUE(eventually([&] { return api_->engine.stats().running == 0; }));
    EXPECT_EQ(entry.tokens.completion,
              static_cast<std::int64_t>(api_->engine.stats().generated_tokens));
    EXPECT_GT(entry.tokens.prompt, 0);
    EXPECT_TRUE(entry.outcome == access::Outcome::kCancelled || overflows);
  }
}

TEST_F(BillingTest, EveryAnswerTakesAPlaceOfTheKey) {
  access::KeySettings settings = access::test_settings();
  settings.limits.concurrency = 3;
  const std::string key = add_key(settings);
  start();
  EXPECT_EQ(status_of(post(chat_body(R"("n":3)"), bearer(key))), 200);
  const std::string four = post(chat_body(R"("n":4)"), bearer(key));
  EXPECT_EQ(status_of(four), 413) << four;
  EXPECT_NE(four.find("asks for 4 answers (prompts times n), more than the key's limit of 3"),
            std::string::npos)
      << four;
  EXPECT_EQ(status_of(post(R"({"prompt":["a","b"],"n":2,"max_tokens":1})", bearer(key), kText)),
            413);
  start_slow();
  const auto two = send(chat_body(R"("n":2)"), key);
  ASSERT_TRUE(waiting(1));
  EXPECT_EQ(status_of(post(chat_body(R"("n":2)"), bearer(key))), 429);
}

TEST_F(BillingTest, RoutesThatCountTokensAreHeldToModelsAndRequestsPerMinute) {
  access::KeySettings settings = access::test_settings();
  settings.limits.requests_per_minute = 1;
  const std::string chat = R"({"model":"nano","messages":[{"role":"user","content":"hi"}]})";
  const std::string message =
      R"({"model":"nano","max_tokens":5,"messages":[{"role":"user","content":"hi"}]})";
  const std::vector<std::pair<const char*, std::string>> calls = {
      {"/tokenize", R"({"prompt":"abc"})"},
      {"/tokenize", chat},
      {"/detokenize", R"({"tokens":[5]})"},
      {"/v1/tokenizers/estimate-token-count", chat},
      {"/v1/messages/count_tokens", message},
      {"/anthropic/v1/messages/count_tokens", message},
      {"/v1/responses/input_tokens", R"({"model":"nano","input":"hi"})"}};
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    keys.push_back(add_key(settings));
  }
  settings.models = {"other"};
  const std::string other = add_key(settings);
  start();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& [path, body] = calls[i];
    SCOPED_TRACE(path + body);
    EXPECT_EQ(status_of(post(body, bearer(other), path)), 403);
    EXPECT_EQ(status_of(post("{}", bearer(keys[i]), path)), 400) << "takes none of the minute";
    const std::string reply = post(body, bearer(keys[i]), path);
    EXPECT_EQ(status_of(reply), 200) << reply;
    EXPECT_NE(reply.find("x-ratelimit-remaining-requests: 0\r\n"), std::string::npos) << reply;
    const std::string again = post(body, bearer(keys[i]), path);
    EXPECT_EQ(status_of(again), 429) << again;
    EXPECT_NE(again.find("retry-after-ms: 60000\r\n"), std::string::npos) << again;
  }
  EXPECT_TRUE(entries().empty());
}

TEST_F(BillingTest, EveryAnswerToAKeyHasItsRates) {
  access::KeySettings settings = access::test_settings();
  settings.limits.requests_per_minute = 50;
  const std::string key = add_key(settings);
  const auto held = std::make_shared<std::atomic<bool>>(false);
  start(
      [held, says = TestApi::says(kAnswer)](const engine::GenerateRequest& request) {
        engine::Script script = says(request);
        script.held = held;
        return script;
      },
      {.engine = {.max_sequences = 1, .max_queue = 1}});
  const auto rates = [&](const std::string& body, int status, const char* path = kChat) {
    const std::string reply = post(body, bearer(key), path);
    EXPECT_EQ(status_of(reply), status) << reply;
    for (const char* name : {"X-RateLimit-Limit: 50\r\n", "x-ratelimit-limit-requests: 50\r\n"}) {
      EXPECT_NE(reply.find(name), std::string::npos) << name << reply;
    }
    for (const char* name :
         {"Retry-After: 1\r\n", "retry-after-ms: 1000\r\n", "x-should-retry: true\r\n"}) {
      EXPECT_EQ(reply.find(name) != std::string::npos, status == 429) << name << reply;
    }
    return reply;
  };
  const std::string schema =
      R"("response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"no"}}})";
  rates(chat_body(), 200);
  rates(R"({"messages":[]})", 400);
  rates(chat_body(schema), 400);
  *held = true;
  const auto first = send(chat_body(), key);
  ASSERT_TRUE(eventually([&] { return api_->engine.stats().running == 1; }));
  rates(chat_body(R"("n":2)"), 429);  // beside the first one there is room for one
  rates(chat_body(R"("n":2,"stream":true)"), 429);
  *held = false;
  EXPECT_EQ(status_of(first->read_response()), 200);
  rates(R"({"model":"nano","max_tokens":0,"messages":[]})", 400, kMessages);
  EXPECT_EQ(entries().size(), 2U);
}

}  // namespace
}  // namespace daybreak::api
