// SPDX-License-Identifier: Apache-2.0
// Retries of clients that did not wait: what reaches the engine, the ledger and the client.

#include <gtest/gtest.h>

#include <atomic>

#include "access/access_testing.h"
#include "access/schema.h"
#include "access/usage_rows.h"
#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kAnswer =
    "think<|close|>think<|sep|><|open|>response<|sep|>hello you<|close|>response<|sep|>"
    "<|close|>message<|sep|><|end_of_msg|>";
constexpr const char* kMessage =
    R"({"model":"nano","max_tokens":500,"messages":[{"role":"user","content":"hi"}]})";
const std::string kFirst = "x-stainless-retry-count: 0\r\n";
const std::string kAgain = "x-stainless-retry-count: 1\r\n";

std::string named(const std::string& name) { return "Idempotency-Key: " + name + "\r\n"; }

class ReplayTest : public ::testing::Test {
 protected:
  void start(std::chrono::milliseconds grace = std::chrono::hours(1)) {
    TestApiOptions options;
    options.replays.grace = grace;
    options.access = access_;
    api_ = std::make_unique<TestApi>(
        [this, says = TestApi::says(kAnswer)](const engine::GenerateRequest& request) {
          engine::Script script = says(request);
          script.held = held_;
          return script;
        },
        options);
  }
  [[nodiscard]] RawClient ask(const std::string& headers, const std::string& body = chat_body(),
                              const std::string& path = kChat) const {
    RawClient client(api_->server->port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + headers +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client;
  }
  // Sends a request, and leaves when it has reached the engine as the `count`-th.
  void time_out(std::size_t count, const std::string& headers,
                const std::string& body = chat_body(), const std::string& path = kChat) const {
    {
      const RawClient gone = ask(headers, body, path);
      wait_for_submissions(count);
    }
    // A real client waits longer before it asks again than its leaving takes to be seen.
    ASSERT_TRUE(eventually([&] { return metric("daybreak_abandoned_calls") == 1; })) << path;
  }
  void wait_for_submissions(std::size_t count) const {
    ASSERT_TRUE(eventually([&] { return api_->engine.requests().size() == count; }));
  }
  [[nodiscard]] std::size_t submissions() const { return api_->engine.requests().size(); }
  [[nodiscard]] bool replayed(const std::string& reply) const {
    return reply.find("Idempotent-Replayed: true\r\n") != std::string::npos;
  }
  // The value of a metric without labels.
  [[nodiscard]] int metric(const std::string& name) const {
    const std::string text = body_of(api_->get("/metrics"));
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + name.size() + 2));
  }

  std::shared_ptr<std::atomic<bool>> held_ = std::make_shared<std::atomic<bool>>(true);
  const access::ManualClock clock_;
  std::shared_ptr<access::AccessPolicy> access_;
  std::unique_ptr<TestApi> api_;
};

TEST_F(ReplayTest, ATimeOutAndARetryCostOneSubmissionInEveryProtocol) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {kChat, chat_body()},
      {"/v1/completions", R"({"prompt":"abc","max_tokens":3})"},
      {"/v1/responses", R"({"input":"hi"})"},
      {"/v1/messages", kMessage},
      {"/anthropic/v1/messages", kMessage},
      {"/invocations", chat_body()}};
  start();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& [path, body] = calls[i];
    *held_ = true;
    time_out(i + 1, kFirst, body, path);
    RawClient again = ask(kAgain, body, path);
    ASSERT_TRUE(eventually([&] { return metric("daybreak_waiting_retries") == 1; })) << path;
    *held_ = false;
    const std::string reply = again.read_response();
    EXPECT_EQ(status_of(reply), 200) << path << reply;
    EXPECT_TRUE(replayed(reply)) << path;
    EXPECT_EQ(submissions(), i + 1) << path;
    EXPECT_TRUE(eventually([&] { return metric("daybreak_kept_answers") == 0; }))
        << path << ": it was heard";
  }
}

TEST_F(ReplayTest, AnAnswerNobodyHeardIsGivenToTheRetry) {
  start();
  time_out(1, kFirst);
  *held_ = false;
  ASSERT_TRUE(eventually([&] { return metric("daybreak_kept_answers") == 1; }));
  const std::string reply = ask(kAgain).read_response();  // and leaves at once
  EXPECT_TRUE(replayed(reply)) << reply;
  EXPECT_EQ(submissions(), 1U);
  ASSERT_TRUE(eventually([&] { return metric("daybreak_kept_answers") == 0; }));
  EXPECT_FALSE(replayed(ask(kAgain).read_response())) << "given once";
  EXPECT_EQ(submissions(), 2U);
}

TEST_F(ReplayTest, EqualRequestsThatAreNoRetriesEachGetTheirOwnAnswer) {
  start();
  RawClient first = ask(kFirst);
  wait_for_submissions(1);
  RawClient second = ask(kFirst);
  RawClient third = ask(kAgain);  // its first try never came here
  wait_for_submissions(3);
  *held_ = false;
  const std::string one = first.read_response();
  const std::string two = second.read_response();
  EXPECT_FALSE(replayed(one) || replayed(two) || replayed(third.read_response()));
  EXPECT_NE(Json::parse(body_of(one))["id"], Json::parse(body_of(two))["id"]);
}

TEST_F(ReplayTest, WithoutAnAnnouncementAnAbortedCallEndsAtOnce) {
  start();
  {
    const RawClient gone = ask("");
    wait_for_submissions(1);
  }
  EXPECT_TRUE(eventually([&] { return api_->engine.stats().running == 0; }));
}

TEST_F(ReplayTest, AnAnnouncedCallThatNobodyAsksForAgainEndsAfterTheGrace) {
  for (const int grace : {0, 20}) {
    start(std::chrono::milliseconds(grace));
    {
      const RawClient gone = ask(kFirst);
      wait_for_submissions(1);
    }
    EXPECT_TRUE(eventually([&] { return api_->engine.stats().running == 0; })) << grace;
    RawClient late = ask(kAgain);
    wait_for_submissions(2);
    *held_ = false;
    EXPECT_FALSE(replayed(late.read_response()));
    *held_ = true;
    api_.reset();
  }
}

TEST_F(ReplayTest, ARetryThatLeavesTooCanBeRetried) {
  start(std::chrono::milliseconds(0));  // only whoever listens keeps it going
  {
    const RawClient first = ask(named("k"));
    wait_for_submissions(1);
    {
      const RawClient second = ask(named("k"));
      ASSERT_TRUE(eventually([&] { return metric("daybreak_waiting_retries") == 1; }));
    }
    ASSERT_TRUE(eventually([&] { return metric("daybreak_waiting_retries") == 0; }));
    EXPECT_EQ(api_->engine.stats().running, 1U) << "the first still listens";
  }
  EXPECT_TRUE(eventually([&] { return api_->engine.stats().running == 0; }));
}

TEST_F(ReplayTest, ANameStandsForOneBodyAndIsAnsweredAgain) {
  start();
  *held_ = false;
  const std::string first = ask(named("k")).read_response();
  EXPECT_EQ(status_of(first), 200);
  EXPECT_FALSE(replayed(first));
  const std::string second = ask(named("k")).read_response();
  EXPECT_TRUE(replayed(second));
  EXPECT_EQ(body_of(second), body_of(first));
  const std::string other = ask(named("k"), chat_body(R"("n":2)")).read_response();
  EXPECT_EQ(status_of(other), 422) << other;
  EXPECT_NE(body_of(other).find("Idempotency-Key"), std::string::npos) << other;
  const std::string anthropic = ask(named("k"), kMessage, "/v1/messages").read_response();
  EXPECT_EQ(status_of(anthropic), 200) << "another route";
  const std::string mismatch =
      ask(named("k"), R"({"model":"nano","max_tokens":1,"messages":[]})", "/v1/messages")
          .read_response();
  EXPECT_EQ(status_of(mismatch), 422);
  EXPECT_EQ(Json::parse(body_of(mismatch))["type"], "error") << mismatch;
  EXPECT_EQ(status_of(ask(named(std::string(256, 'k'))).read_response()), 400);
  EXPECT_EQ(submissions(), 2U);
}

TEST_F(ReplayTest, StreamsAreNeverReplayedAndEndWithTheirClient) {
  start();
  const std::string body = chat_body(R"("stream":true)");
  {
    const RawClient gone = ask(named("k") + kFirst, body);
    wait_for_submissions(1);
  }
  EXPECT_TRUE(eventually([&] { return api_->engine.stats().running == 0; }));
  *held_ = false;
  for (std::size_t i = 2; i < 4; ++i) {
    RawClient client = ask(named("k") + kAgain, body);
    EXPECT_NE(client.read_until("[DONE]").find("[DONE]"), std::string::npos);
    EXPECT_EQ(submissions(), i);
  }
  // A spelling that is noticed only when the stream begins.
  RawClient odd = ask(named("odd"), chat_body(R"("str\u0065am":true)"));
  EXPECT_NE(odd.read_until("[DONE]").find("[DONE]"), std::string::npos);
  EXPECT_EQ(metric("daybreak_kept_answers"), 0);
}

TEST_F(ReplayTest, AnErrorIsNobodyElses) {
  start();
  const std::string bad = chat_body(R"("n":-1)");
  for (int i = 0; i < 2; ++i) {
    const std::string reply = ask(named("k"), bad).read_response();
    EXPECT_EQ(status_of(reply), 400);
    EXPECT_FALSE(replayed(reply));
  }
  // A failed call is made anew by who waited for it.
  RawClient first = ask(named("f"));
  wait_for_submissions(1);
  RawClient second = ask(named("f"));
  ASSERT_TRUE(eventually([&] { return metric("daybreak_waiting_retries") == 1; }));
  api_->engine.cancel(engine::RequestId{1});
  EXPECT_EQ(status_of(first.read_response()), 503);
  wait_for_submissions(2);
  *held_ = false;
  const std::string reply = second.read_response();
  EXPECT_EQ(status_of(reply), 200) << reply;
  EXPECT_FALSE(replayed(reply));
}

TEST_F(ReplayTest, ARetryIsBilledOnceAndNoOtherKeyIsGivenTheAnswer) {
  const testing::TemporaryDirectory dir;
  const std::filesystem::path db = dir / "access.db";
  std::vector<std::string> keys;
  {
    auto store = *access::KeyStore::open(
        {.database = db, .pepper = {}, .missing = access::Database::Missing::kCreate});
    access::KeySettings settings = access::test_settings();
    settings.limits.requests_per_minute = 3;
    settings.limits.concurrency = 1;
    for (int i = 0; i < 2; ++i) {
      keys.push_back("Authorization: Bearer " + store->create(settings)->text + "\r\n");
    }
  }
  access::AccessOptions options;
  options.keys = *access::KeyStore::open({.database = db, .pepper = {}});
  options.ledger = *access::Ledger::open({.database = db});
  options.clock = &clock_;  // the minute does not pass
  access_ = *access::AccessPolicy::create(std::move(options));
  start();
  {
    const RawClient gone = ask(keys[0] + named("k"));
    wait_for_submissions(1);
  }
  RawClient again = ask(keys[0] + named("k"));
  RawClient other = ask(keys[1] + named("k"));
  wait_for_submissions(2);
  ASSERT_TRUE(eventually([&] { return metric("daybreak_waiting_retries") == 1; }));
  *held_ = false;
  EXPECT_TRUE(replayed(again.read_response()));
  const std::string theirs = other.read_response();
  EXPECT_EQ(status_of(theirs), 200);
  EXPECT_FALSE(replayed(theirs));
  // Each took one request of the rate, and nothing else.
  const std::string third = ask(keys[0] + named("k")).read_response();
  EXPECT_TRUE(replayed(third));
  EXPECT_NE(third.find("x-ratelimit-remaining-requests: 0\r\n"), std::string::npos) << third;
  for (const char* name : {"k", "new"}) {
    const std::string refused = ask(keys[0] + named(name)).read_response();
    EXPECT_EQ(status_of(refused), 429) << refused;
    EXPECT_NE(refused.find("Retry-After: 20\r\n"), std::string::npos) << refused;
  }
  EXPECT_EQ(status_of(ask(named("k")).read_response()), 401);
  access::Database database = *access::open_access_database(db, access::Database::Missing::kRefuse);
  std::vector<access::Usage> entries;
  EXPECT_TRUE(access::scan_usage(database, {}, [&](const access::Usage& usage) {
    entries.push_back(usage);
    return ok();
  }));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].outcome, access::Outcome::kStop);
  EXPECT_EQ(entries[1].outcome, access::Outcome::kStop);
}

TEST_F(ReplayTest, SoManyMayWaitForOneAnswer) {
  start();
  std::vector<RawClient> clients;
  clients.push_back(ask(named("k")));
  wait_for_submissions(1);
  for (std::size_t i = 1; i < kMaxListeners; ++i) {
    clients.push_back(ask(named("k")));
  }
  ASSERT_TRUE(eventually([&] { return metric("daybreak_waiting_retries") == kMaxListeners - 1; }));
  const std::string refused = ask(named("k")).read_response();
  EXPECT_EQ(status_of(refused), 429);
  EXPECT_NE(refused.find("Retry-After: 1\r\n"), std::string::npos) << refused;
  EXPECT_EQ(Json::parse(body_of(refused))["error"]["message"],
            "Idempotency-Key: expected at most 8 requests for one answer at a time, try again "
            "later");
  *held_ = false;
  for (RawClient& client : clients) {
    EXPECT_EQ(status_of(client.read_response()), 200);
  }
  EXPECT_EQ(submissions(), 1U);
}

}  // namespace
}  // namespace daybreak::api
