// SPDX-License-Identifier: Apache-2.0
// Keys, limits and the ledger in front of the routes, with the replies that clients know.

#include "api/admission.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "api/admission_test_server.h"
#include "api/completion_test_client.h"
#include "api/isolation.h"

namespace daybreak::api {
namespace {

using testing::body_of;

TEST_F(AdmissionTest, WithoutAKeyNothingButTheOpenRoutesAnswers) {
  add_key(access::test_settings());
  start();
  const std::string none = post(chat_body(), "");
  EXPECT_EQ(status_of(none), 401);
  EXPECT_EQ(error_of(none)["type"], "invalid_authentication_error");
  const std::string wrong = post(chat_body(), bearer("sk-db-wrong"));
  EXPECT_EQ(status_of(wrong), 401);
  EXPECT_EQ(error_of(wrong)["type"], "incorrect_api_key_error");
  EXPECT_EQ(error_of(none)["code"], "invalid_api_key");
  EXPECT_EQ(error_of(wrong)["code"], "invalid_api_key");
  EXPECT_EQ(wrong.find("sk-db-wrong"), std::string::npos) << "the key is echoed";
  constexpr const char* kChallenge = "\r\nWWW-Authenticate: Bearer realm=\"daybreak\"\r\n";
  EXPECT_NE(none.find(kChallenge), std::string::npos) << none;
  EXPECT_NE(wrong.find(kChallenge), std::string::npos) << wrong;
  for (const char* path : {"/v1/completions", "/v1/responses", "/tokenize", "/detokenize",
                           "/invocations", "/v1/tokenizers/estimate-token-count"}) {
    EXPECT_EQ(status_of(post("{}", "", path)), 401) << path;
  }
  EXPECT_EQ(status_of(api_->get("/v1/models")), 401);
  const std::string anthropic = post("{}", "", kMessages);
  EXPECT_EQ(status_of(anthropic), 401);
  EXPECT_EQ(error_of(anthropic)["type"], "authentication_error");
  EXPECT_NE(anthropic.find(kChallenge), std::string::npos) << anthropic;
  for (const char* path : {"/health", "/ready", "/ping", "/metrics", "/version", "/openapi.json"}) {
    EXPECT_EQ(status_of(api_->get(path)), 200) << path;
  }
  EXPECT_TRUE(api_->engine.requests().empty());
  EXPECT_TRUE(entries().empty());
}

TEST_F(AdmissionTest, AKeyIsTakenFromEitherHeader) {
  const std::string key = add_key(access::test_settings());
  start();
  EXPECT_EQ(status_of(post(chat_body(), bearer(key))), 200);
  EXPECT_EQ(status_of(post(chat_body(), "authorization: bearer " + key + "\r\n")), 200);
  EXPECT_EQ(status_of(post(chat_body(), "x-api-key: " + key + "\r\n")), 200);
}

TEST_F(AdmissionTest, ScopesAndModelsAreHeld) {
  access::KeySettings settings;
  settings.name = "metrics only";
  settings.scopes.add(access::Scope::kMetrics);
  const std::string scope = add_key(settings);
  settings = access::test_settings();
  settings.models = {"other"};
  const std::string model = add_key(settings);
  start();
  for (const std::string& key : {scope, model}) {
    const std::string reply = post(chat_body(), bearer(key));
    EXPECT_EQ(status_of(reply), 403) << reply;
    EXPECT_EQ(error_of(reply)["type"], "permission_denied_error");
  }
  EXPECT_TRUE(api_->engine.requests().empty());
}

TEST_F(AdmissionTest, OnlyAnAdministratorSeesAndChangesSlots) {
  access::KeySettings settings = access::test_settings();
  const std::string user = add_key(settings);
  settings.scopes.add(access::Scope::kAdmin);
  const std::string admin = add_key(settings);
  start();
  for (const char* path :
       {"/slots/0?action=erase", "/slots/0?action=save", "/reset_prefix_cache"}) {
    EXPECT_EQ(status_of(post("{}", "", path)), 401) << path;
    EXPECT_EQ(status_of(post("{}", bearer(user), path)), 403) << path;
    EXPECT_EQ(status_of(post("{}", bearer(admin), path)), 501) << path;  // this engine has none
  }
  RawClient client(api_->server->port());
  client.send("GET /slots HTTP/1.1\r\nHost: x\r\n" + bearer(user) + "\r\n");
  EXPECT_EQ(status_of(client.read_response()), 403);
}

std::string body_of(std::string_view path, const std::string& more) {
  if (path == "/v1/responses") {
    return R"({"input":"hi")" + (more.empty() ? "" : "," + more) + "}";
  }
  return path == kChat ? chat_body(more) : completion_body(more);
}

TEST_F(AdmissionTest, PromptsAreSharedWithinATenantAndASaltOnly) {
  access::KeySettings settings = access::test_settings();
  settings.tenant = "acme";
  const std::string a = add_key(settings);
  const std::string b = add_key(settings);
  settings.tenant = "";
  const std::string alone = add_key(settings);
  settings.tenant = "3";  // as the id of a key
  const std::string numbered = add_key(settings);
  start();
  const auto isolation = [&](const std::string& key, const std::string& more, const char* path) {
    EXPECT_EQ(status_of(post(body_of(path, more), bearer(key), path)), 200);
    return api_->engine.requests().back().isolation;
  };
  const std::string salt = R"("cache_salt":"s")";
  EXPECT_EQ(isolation(a, "", kChat), isolation(b, "", "/v1/completions"));
  EXPECT_EQ(isolation(a, salt, kChat), isolation(b, salt, "/v1/completions"));
  EXPECT_EQ(isolation(a, salt, kChat), isolation(b, salt, "/v1/responses"));
  std::set<std::string> distinct;
  for (const std::string& key : {a, alone, numbered}) {
    for (const std::string& more : {std::string(), salt, std::string(R"("cache_salt":"t")")}) {
      EXPECT_TRUE(distinct.insert(isolation(key, more, kChat)).second) << more;
    }
  }
}

TEST_F(AdmissionTest, ZeroRetentionIsTheKeysAndSharesNothingWithOthersOfItsTenant) {
  access::KeySettings settings = access::test_settings();
  settings.tenant = "acme";
  const std::string usual = add_key(settings);
  settings.zero_retention = true;
  const std::string zero = add_key(settings);
  const std::filesystem::path log = dir_ / "content.jsonl";
  start(TestApi::says(kAnswer), {.content_log = {.file = log}});
  const auto last = [&](const std::string& key, const char* path) {
    EXPECT_EQ(status_of(post(body_of(path, ""), bearer(key), path)), 200);
    return api_->engine.requests().back();
  };
  for (const char* path : {kChat, "/v1/completions", "/v1/responses"}) {
    const engine::GenerateRequest a = last(usual, path);
    const engine::GenerateRequest b = last(zero, path);
    EXPECT_FALSE(a.zero_retention);
    EXPECT_TRUE(b.zero_retention);
    EXPECT_NE(a.isolation, b.isolation);
    EXPECT_EQ(owner_in(a.isolation), "tenant:acme");
    EXPECT_EQ(owner_in(b.isolation), "tenant:acme") << "so that it can be revoked";
  }
  api_ = nullptr;  // writes what is queued
  std::ifstream file(log);
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) {
    ++lines;
  }
  EXPECT_EQ(lines, 3U) << "of the other key only";
}

TEST_F(AdmissionTest, PriorityIsTheKeysAndARequestMayOnlyStepBack) {
  access::KeySettings settings = access::test_settings();
  settings.priority = 5;
  const std::string key = add_key(settings);
  start();
  const auto priority = [&](const std::string& more, const char* path) {
    const std::string reply = post(body_of(path, more), bearer(key), path);
    EXPECT_EQ(status_of(reply), 200) << reply;
    return api_->engine.requests().back().priority;
  };
  for (const char* path : {kChat, "/v1/completions", "/v1/responses"}) {
    EXPECT_EQ(priority("", path), 5);
    EXPECT_EQ(priority(R"("priority":2)", path), 3);
    EXPECT_EQ(priority(R"("priority":-2)", path), 5);
    EXPECT_EQ(priority(R"("priority":9000000000)", path), 0);
    EXPECT_EQ(priority(R"("service_tier":"flex")", path), 0);
    EXPECT_EQ(priority(R"("service_tier":"auto")", path), 5);
    EXPECT_EQ(priority(R"("service_tier":"priority")", path), 5);
  }
  EXPECT_NE(post(chat_body(R"("service_tier":"priority")"), bearer(key))
                .find("x-daybreak-ignored-fields: service_tier\r\n"),
            std::string::npos);
  TestApi open(TestApi::says("x"));
  open.post(chat_body(R"("priority":1)"));
  EXPECT_EQ(open.engine.requests().back().priority, 8);
  EXPECT_EQ(open.engine.requests().back().isolation, "\n");
}

TEST_F(AdmissionTest, RatesSayWhatIsLeftAndWhenToRetry) {
  access::KeySettings settings = access::test_settings();
  settings.limits.requests_per_minute = 2;
  const std::string key = add_key(settings);
  start();
  const std::string first = post(chat_body(), bearer(key));
  EXPECT_EQ(status_of(first), 200);
  EXPECT_NE(first.find("X-RateLimit-Limit: 2\r\n"), std::string::npos) << first;
  EXPECT_NE(first.find("x-ratelimit-remaining-requests: 1\r\n"), std::string::npos) << first;
  EXPECT_EQ(status_of(post(chat_body(), bearer(key))), 200);
  const std::string third = post(chat_body(), bearer(key));
  EXPECT_EQ(status_of(third), 429);
  EXPECT_EQ(error_of(third)["type"], "rate_limit_reached_error");
  EXPECT_EQ(error_of(third)["code"], "rate_limit_exceeded");
  EXPECT_NE(third.find("x-should-retry: true\r\n"), std::string::npos) << third;
  EXPECT_NE(third.find("Retry-After: 30\r\n"), std::string::npos) << third;
  EXPECT_NE(third.find("retry-after-ms: 30000\r\n"), std::string::npos) << third;
  EXPECT_EQ(third.find("Retry-After: 1\r\n"), std::string::npos) << "two answers to one question";
  // For batches, and in the log.
  EXPECT_TRUE(
      eventually([&] { return api_->logged().find(" rate_wait_ms=30000 ") != std::string::npos; }));
  clock_.advance_us(30'000'000);
  EXPECT_EQ(status_of(post(chat_body(), bearer(key))), 200);
}

TEST_F(AdmissionTest, AQuotaIsNoReasonToRetry) {
  access::KeySettings settings = access::test_settings();
  settings.limits.tokens_per_day = 400;
  const std::string key = add_key(settings);
  start();
  std::string reply;
  for (int i = 0; i < 40 && (reply.empty() || status_of(reply) == 200); ++i) {
    reply = post(chat_body(R"("max_completion_tokens":60)"), bearer(key));
  }
  EXPECT_EQ(status_of(reply), 429) << reply;
  EXPECT_EQ(error_of(reply)["type"], "exceeded_current_quota_error");
  EXPECT_EQ(error_of(reply)["code"], "insufficient_quota");
  EXPECT_EQ(api_->logged().find("rate_wait_ms"), std::string::npos) << "it is waited for in vain";
  EXPECT_NE(reply.find("x-should-retry: false\r\n"), std::string::npos) << reply;
  std::int64_t used = 0;
  for (const access::Usage& usage : entries()) {
    used += usage.tokens.total();
  }
  EXPECT_LE(used, 400);
}

// Whoever has something left of a quota may get a shorter answer. Rates are told all the same.
TEST_F(AdmissionTest, ARefusalByAQuotaTellsRatesAndWhetherAShorterAnswerMayFit) {
  access::KeySettings settings = access::test_settings();
  settings.limits.tokens_per_day = 20;
  settings.limits.requests_per_minute = 9;
  const std::string key = add_key(settings);
  start();
  const auto text = [&](int prompt, int max_tokens) {
    std::string ids = "[5";
    for (int i = 1; i < prompt; ++i) {
      ids += ",5";
    }
    return post(R"({"prompt":)" + ids + R"(],"max_tokens":)" + std::to_string(max_tokens) + "}",
                bearer(key), "/v1/completions");
  };
  const auto check = [&](const std::string& reply, int status, bool hint) {
    EXPECT_EQ(status_of(reply), status) << reply;
    EXPECT_NE(reply.find("x-ratelimit-remaining-requests: 8\r\n"), std::string::npos) << reply;
    EXPECT_NE(reply.find("X-RateLimit-Limit: 9\r\n"), std::string::npos) << reply;
    EXPECT_NE(reply.find("x-should-retry: false\r\n"), std::string::npos) << reply;
    EXPECT_EQ(reply.find("; a smaller max_tokens than ") != std::string::npos, hint) << reply;
  };
  ASSERT_EQ(status_of(text(10, 5)), 200);  // 5 are left
  check(text(3, 18), 413, true);
  const std::string longer = text(3, 3);
  check(longer, 429, true);
  EXPECT_NE(
      longer.find("of the key's quota of 20 tokens a day, 15 tokens are used or reserved, and "
                  "the request may use 6 tokens; it is renewed at "),
      std::string::npos)
      << longer;
  check(text(5, 3), 429, false);  // the prompt alone is too much
  check(text(6, 0), 429, false);
  EXPECT_EQ(status_of(text(3, 2)), 200);
  const std::string none = text(1, 3);  // nothing is left
  EXPECT_EQ(status_of(none), 429);
  EXPECT_EQ(none.find("smaller"), std::string::npos) << none;
}

TEST_F(AdmissionTest, ACompletionReservesEveryAnswerToEveryPrompt) {
  access::KeySettings settings = access::test_settings();
  settings.limits.tokens_per_day = 53;
  const std::string key = add_key(settings);
  start();
  // Two prompts of one token, three answers of nine to each: 56.
  const std::string body = R"({"model":"nano","prompt":[[5],[6]],"n":3,"max_tokens":)";
  const std::string refused = post(body + "9}", bearer(key), "/v1/completions");
  EXPECT_NE(error_of(refused)["message"].get<std::string>().find("the request may use 56 tokens"),
            std::string::npos)
      << refused;
  EXPECT_EQ(status_of(post(body + "8}", bearer(key), "/v1/completions")), 200);  // 50
}

TEST_F(AdmissionTest, TheLedgerHoldsTheUsageOfTheReplyWhateverTheProtocol) {
  const std::string key = add_key(access::test_settings());
  start();
  const Json chat = Json::parse(body_of(post(chat_body(), bearer(key))));
  // Seen as soon as the answer has been.
  ASSERT_EQ(entries().size(), 1U);
  const access::Usage first = entries()[0];
  EXPECT_EQ(first.tokens.prompt, chat["usage"]["prompt_tokens"]);
  EXPECT_EQ(first.tokens.completion, chat["usage"]["completion_tokens"]);
  EXPECT_EQ(first.tokens.reasoning, chat["usage"]["completion_tokens_details"]["reasoning_tokens"]);
  EXPECT_EQ(first.cost_micro_usd, 3 * first.tokens.prompt + 15 * first.tokens.completion);
  EXPECT_EQ(first.model, "nano");
  EXPECT_EQ(first.outcome, access::Outcome::kStop);
  EXPECT_FALSE(first.stream);

  const std::string streamed = chat_body(R"("stream":true,"max_completion_tokens":2)");
  RawClient client(api_->server->port());
  client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + bearer(key) +
              "Content-Length: " + std::to_string(streamed.size()) + "\r\n\r\n" + streamed);
  client.read_until("[DONE]");
  ASSERT_EQ(entries().size(), 2U);
  EXPECT_EQ(entries()[1].outcome, access::Outcome::kLength);
  EXPECT_TRUE(entries()[1].stream);

  const std::string message =
      post(R"({"model":"nano","max_tokens":500,"messages":[{"role":"user","content":"hi"}]})",
           "x-api-key: " + key + "\r\n", kMessages);
  ASSERT_EQ(status_of(message), 200) << message;
  ASSERT_EQ(entries().size(), 3U);
  EXPECT_EQ(entries()[2].tokens.completion,
            Json::parse(body_of(message))["usage"]["output_tokens"]);
  const std::string text =
      post(R"({"prompt":"abc","max_tokens":3})", bearer(key), "/v1/completions");
  ASSERT_EQ(status_of(text), 200) << text;
  ASSERT_EQ(entries().size(), 4U);
  EXPECT_EQ(entries()[3].tokens.completion, 3);
}

TEST_F(AdmissionTest, AnIdThatIsSentTwiceIsPaidForTwice) {
  const std::string key = add_key(access::test_settings());
  start();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(status_of(post(chat_body(), bearer(key) + "x-request-id: same\r\n")), 200);
  }
  EXPECT_EQ(entries().size(), 2U);
}

TEST_F(AdmissionTest, ARefusedRequestCostsNothing) {
  access::KeySettings settings = access::test_settings();
  settings.limits.requests_per_minute = 1;
  const std::string key = add_key(settings);
  start();
  EXPECT_EQ(status_of(post(R"({"messages":[]})", bearer(key))), 400);
  EXPECT_EQ(status_of(post(chat_body(R"("response_format":{"type":"json_schema","json_schema":)"
                                     R"({"name":"x","schema":{"type":"nothing"}}})"),
                           bearer(key))),
            400);
  EXPECT_TRUE(entries().empty());
  EXPECT_EQ(status_of(post(chat_body(), bearer(key))), 200);
}

TEST_F(AdmissionTest, WhoLosesItsPlaceInTheQueueIsToldSoAndPaysNothing) {
  access::KeySettings settings = access::test_settings();
  settings.limits.requests_per_minute = 1;
  const std::string key = add_key(settings);
  start([](const engine::GenerateRequest&) {
    engine::Script script;
    script.error = Error{Errc::kResourceLimit, "the server is busy, try again later"};
    return script;
  });
  for (const char* more : {"", R"("stream":true)"}) {
    const std::string reply = post(chat_body(more), bearer(key));
    EXPECT_EQ(status_of(reply), 429) << reply;
    EXPECT_NE(reply.find("Retry-After: 1\r\n"), std::string::npos) << reply;
    EXPECT_EQ(error_of(reply)["message"], "the server is busy, try again later");
    EXPECT_TRUE(api_->engine.requests().back().yields_place);
    EXPECT_TRUE(api_->engine.requests().back().may_displace);
  }
  EXPECT_EQ(status_of(post(chat_body(R"("n":2)"), bearer(key))), 429);
  EXPECT_FALSE(api_->engine.requests().back().yields_place) << "the other answer may have begun";
  EXPECT_FALSE(api_->engine.requests().back().may_displace) << "the other may find no place";
  EXPECT_TRUE(entries().empty());
}

TEST_F(AdmissionTest, WhoseKeyEndsBeforeTheRequestStartsPaysNothing) {
  access::KeySettings settings = access::test_settings();
  settings.limits.requests_per_minute = 1;
  const std::string key = add_key(settings);
  start([](const engine::GenerateRequest&) {
    engine::Script script;
    script.error = Error{Errc::kUnauthenticated, "the API key was revoked"};
    return script;
  });
  for (const char* more : {"", R"("stream":true)"}) {
    const std::string reply = post(chat_body(more), bearer(key));
    EXPECT_EQ(status_of(reply), 401) << reply;
    EXPECT_EQ(error_of(reply)["message"], "the API key was revoked");
  }
  EXPECT_TRUE(entries().empty());
}

TEST_F(AdmissionTest, WhatAClientThatLeftHasUsedIsWrittenDown) {
  const std::string key = add_key(access::test_settings());
  start([](const engine::GenerateRequest& request) {
    engine::Script script = TestApi::says("some thoughts")(request);
    script.hang = true;
    return script;
  });
  {
    const std::string body = chat_body(R"("stream":true)");
    RawClient client(api_->server->port());
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + bearer(key) +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    client.read_until("reasoning_content");
  }
  ASSERT_TRUE(eventually([&] { return entries().size() == 1; }));
  EXPECT_EQ(entries()[0].outcome, access::Outcome::kCancelled);
  EXPECT_GT(entries()[0].tokens.completion, 0);
}

TEST_F(AdmissionTest, ConcurrencyComesBackWhenAnAnswerEnds) {
  access::KeySettings settings = access::test_settings();
  settings.limits.concurrency = 1;
  const std::string key = add_key(settings);
  start();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status_of(post(chat_body(), bearer(key))), 200) << i;
  }
}

TEST_F(AdmissionTest, TheTimelineIsForAdministrators) {
  access::KeySettings settings;
  settings.name = "operator";
  settings.scopes.add(access::Scope::kAdmin);
  const std::string admin = add_key(settings);
  const std::string user = add_key(access::test_settings());
  start();
  const auto get = [&](const std::string& headers) {
    RawClient client(api_->server->port());
    client.send("GET /debug/timeline HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    return client.read_response();
  };
  EXPECT_EQ(status_of(get("")), 401);
  EXPECT_EQ(status_of(get(bearer(user))), 403);
  const std::string reply = get(bearer(admin));
  EXPECT_EQ(status_of(reply), 200);
  EXPECT_TRUE(Json::parse(body_of(reply)).contains("traceEvents"));
}

// Moonshot's clients ask what is left, in dollars.
TEST_F(AdmissionTest, TheBalanceIsWhatIsLeftOfTheMonthsMoney) {
  access::KeySettings rich = access::test_settings();
  const std::string unlimited = add_key(rich);
  rich.limits.micro_usd_per_month = 2'000'000;
  const std::string limited = add_key(rich);
  start();
  const auto ask = [&](const std::string& headers) {
    RawClient client(api_->server->port());
    client.send("GET /v1/users/me/balance HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    return client.read_response();
  };
  const std::string before = ask(bearer(limited));
  ASSERT_EQ(status_of(before), 200) << before;
  EXPECT_EQ(body_of(before),
            R"({"code":0,"data":{"available_balance":2.000000,"voucher_balance":0,)"
            R"("cash_balance":2.000000},"scode":"0x0","status":true})");
  ASSERT_EQ(status_of(post(R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":100})",
                           bearer(limited))),
            200);
  const double left = Json::parse(body_of(ask(bearer(limited))))["data"]["available_balance"];
  EXPECT_LT(left, 2.0);
  EXPECT_GT(left, 1.9);
  EXPECT_EQ(status_of(ask(bearer(unlimited))), 404);
  EXPECT_EQ(status_of(ask("")), 401);
  TestApi open(TestApi::says(kAnswer));
  EXPECT_EQ(status_of(open.get("/v1/users/me/balance")), 404);
}

}  // namespace
}  // namespace daybreak::api
