// SPDX-License-Identifier: Apache-2.0
// What belongs to whom on a server with keys: files, batches and their requests, kept responses.

#include <gtest/gtest.h>

#include <atomic>

#include "access/access_testing.h"
#include "access/schema.h"
#include "access/usage_rows.h"
#include "api/api_test_server.h"
#include "api/batch_test_files.h"

namespace daybreak::api {
namespace {

using access::Scope;
using testing::body_of;
using testing::status_of;

access::KeySettings settings_with(std::initializer_list<Scope> scopes) {
  access::KeySettings settings;
  settings.name = "test";
  for (const Scope scope : scopes) {
    settings.scopes.add(scope);
  }
  return settings;
}

access::KeySettings all_but_admin() {
  return settings_with({Scope::kInference, Scope::kBatch, Scope::kFiles});
}

access::KeySettings of_the_team() {
  access::KeySettings settings = all_but_admin();
  settings.tenant = "team";
  return settings;
}

class OwnershipTest : public ::testing::Test {
 protected:
  struct Key {
    access::KeyId id;
    std::string text;
  };

  OwnershipTest()
      : store_(*access::KeyStore::open(
            {.database = db(), .pepper = {}, .missing = access::Database::Missing::kCreate})) {}

  Key add(const access::KeySettings& settings) {
    auto made = store_->create(settings);
    return {made->key.id, made->text};
  }
  void start() {
    access::AccessOptions options;
    options.keys = *access::KeyStore::open({.database = db(), .pepper = {}});
    options.ledger = *access::Ledger::open({.database = db()});
    options.clock = &clock_;
    policy_ = *access::AccessPolicy::create(std::move(options));
    TestApiOptions api;
    api.batches.directory = (dir_ / "state").string();
    api.limits.body_bytes = std::size_t{64} << 20U;
    api.access = policy_;
    api_ = std::make_unique<TestApi>(
        [this, says = TestApi::says("ok")](const engine::GenerateRequest& request) {
          engine::Script script = says(request);
          script.held = held_;
          return script;
        },
        api);
  }
  void stop() {
    api_.reset();
    policy_.reset();
  }

  [[nodiscard]] std::string ask(const std::string& method, const std::string& path, const Key& key,
                                const std::string& body = "",
                                const std::string& type = "application/json") const {
    RawClient client(api_->server->port());
    client.send(method + " " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key.text +
                "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    return client.read_response();
  }
  [[nodiscard]] std::string upload_reply(const Key& key, const std::string& text) const {
    return ask("POST", "/v1/files", key,
               "--B\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--B\r\n"
               "Content-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n" +
                   text + "\r\n--B--\r\n",
               "multipart/form-data; boundary=B");
  }
  [[nodiscard]] std::string upload(const Key& key, const std::string& text) const {
    return Json::parse(body_of(upload_reply(key, text)))["id"];
  }
  [[nodiscard]] std::string create_reply(const Key& key, const std::string& file) const {
    return ask("POST", "/v1/batches", key,
               R"({"input_file_id":")" + file +
                   R"(","endpoint":"/v1/completions","completion_window":"24h"})");
  }
  [[nodiscard]] std::string create(const Key& key, int count) const {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += batch_line("id" + std::to_string(i), "p", R"(,"max_tokens":2)");
    }
    return Json::parse(body_of(create_reply(key, upload(key, text))))["id"];
  }
  [[nodiscard]] Json batch(const Key& key, const std::string& id) const {
    return Json::parse(body_of(ask("GET", "/v1/batches/" + id, key)));
  }
  Json wait_for(const Key& key, const std::string& id, const std::string& status) const {
    Json found;
    EXPECT_TRUE(eventually([&] { return (found = batch(key, id))["status"] == status; }))
        << found.dump();
    return found;
  }
  // Ledger entries by key.
  [[nodiscard]] std::map<access::KeyId, int> entries() const {
    access::Database database =
        *access::open_access_database(db(), access::Database::Missing::kRefuse);
    std::map<access::KeyId, int> out;
    EXPECT_TRUE(access::scan_usage(database, {}, [&](const access::Usage& usage) {
      ++out[usage.key];
      return ok();
    }));
    return out;
  }
  [[nodiscard]] std::filesystem::path db() const { return dir_ / "access.db"; }

  access::TemporaryDirectory dir_;
  access::ManualClock clock_;
  std::unique_ptr<access::KeyStore> store_;
  std::shared_ptr<access::AccessPolicy> policy_;
  std::shared_ptr<std::atomic<bool>> held_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<TestApi> api_;
};

TEST_F(OwnershipTest, FilesAndBatchesOfOthersAreAsIfTheyWereNotThere) {
  const Key alice = add(all_but_admin());
  const Key bob = add(all_but_admin());
  const Key carol = add(of_the_team());
  const Key dave = add(of_the_team());
  start();
  const std::string id = create(alice, 3);
  const Json done = wait_for(alice, id, "completed");
  EXPECT_EQ(done["request_counts"]["completed"], 3);
  const std::string input = done["input_file_id"];
  const std::string output = done["output_file_id"];
  for (const Key* other : {&bob, &carol}) {
    for (const std::string& path :
         {"/v1/files/" + input, "/v1/files/" + output + "/content", "/v1/batches/" + id}) {
      EXPECT_EQ(status_of(ask("GET", path, *other)), 404) << path;
    }
    EXPECT_EQ(status_of(ask("DELETE", "/v1/files/" + input, *other)), 404);
    EXPECT_EQ(status_of(ask("POST", "/v1/batches/" + id + "/cancel", *other)), 404);
    EXPECT_EQ(status_of(create_reply(*other, input)), 404);
    EXPECT_EQ(Json::parse(body_of(ask("GET", "/v1/files", *other)))["data"].size(), 0U);
    EXPECT_EQ(Json::parse(body_of(ask("GET", "/v1/batches", *other)))["data"].size(), 0U);
  }
  EXPECT_EQ(status_of(ask("GET", "/v1/files/" + output + "/content", alice)), 200);
  EXPECT_EQ(Json::parse(body_of(ask("GET", "/v1/files", alice)))["data"].size(), 2U);
  // Keys of one tenant see the same.
  const std::string file = upload(carol, "x");
  EXPECT_EQ(status_of(ask("GET", "/v1/files/" + file, dave)), 200);
  // Also after a restart.
  stop();
  start();
  EXPECT_EQ(status_of(ask("GET", "/v1/files/" + input, alice)), 200);
  EXPECT_EQ(status_of(ask("GET", "/v1/files/" + input, bob)), 404);
  EXPECT_EQ(status_of(ask("GET", "/v1/batches/" + id, bob)), 404);
  EXPECT_EQ(status_of(ask("GET", "/v1/files/" + file, dave)), 200);
  EXPECT_EQ(status_of(ask("DELETE", "/v1/files/" + input, alice)), 200);
}

TEST_F(OwnershipTest, TheLogTellsWhoAskedAndNeverTheSecret) {
  add(all_but_admin());
  const Key second = add(all_but_admin());
  start();
  EXPECT_EQ(status_of(ask("GET", "/v1/models", second)), 200);
  EXPECT_EQ(status_of(ask("GET", "/v1/models", {second.id, second.text + "x"})), 401);
  EXPECT_EQ(status_of(ask("GET", "/health", second)), 200);
  const auto line_of = [&](const std::string& what) {
    const std::string log = api_->logged();
    const std::size_t at = log.find(what);
    return at == std::string::npos ? "" : log.substr(at, log.find('\n', at) - at);
  };
  const std::string models = " client=127.0.0.1 method=GET route=/v1/models status=";
  ASSERT_TRUE(eventually([&] { return !line_of("route=/health").empty(); }));
  EXPECT_NE(line_of(models + "200").find(" key=2 "), std::string::npos) << api_->logged();
  EXPECT_EQ(line_of(models + "401").find("key="), std::string::npos) << api_->logged();
  EXPECT_FALSE(line_of(models + "401").empty());
  EXPECT_EQ(line_of("route=/health").find("key="), std::string::npos) << api_->logged();
  EXPECT_EQ(api_->logged().find(second.text), std::string::npos);
}

TEST_F(OwnershipTest, FilesAndBatchesHaveScopesOfTheirOwn) {
  const Key inference = add(settings_with({Scope::kInference}));
  const Key files = add(settings_with({Scope::kFiles}));
  const Key both = add(settings_with({Scope::kFiles, Scope::kBatch}));
  start();
  EXPECT_EQ(status_of(ask("GET", "/v1/files", inference)), 403);
  EXPECT_EQ(status_of(ask("GET", "/v1/batches", inference)), 403);
  EXPECT_EQ(status_of(upload_reply(inference, "x")), 403);
  EXPECT_EQ(status_of(ask("GET", "/v1/files", files)), 200);
  EXPECT_EQ(status_of(create_reply(files, upload(files, "x"))), 403);
  EXPECT_EQ(status_of(ask("POST", "/v1/completions", both, R"({"prompt":"p","max_tokens":2})")),
            403);
  // Its requests need the batch's scope alone.
  EXPECT_EQ(wait_for(both, create(both, 2), "completed")["request_counts"]["completed"], 2);
}

TEST_F(OwnershipTest, EachRequestOfABatchIsAccountedToWhoMadeItAlsoAfterARestart) {
  const Key alice = add(all_but_admin());
  const Key bob = add(all_but_admin());
  start();
  const std::string first = create(alice, 3);
  wait_for(alice, first, "completed");
  EXPECT_EQ(entries(), (std::map<access::KeyId, int>{{alice.id, 3}}));
  *held_ = true;
  const std::string second = create(bob, 4);
  ASSERT_TRUE(eventually([&] { return api_->engine.requests().size() == 5; }));
  stop();  // two are cut, and done again
  *held_ = false;
  start();
  wait_for(bob, second, "completed");
  const auto all = entries();
  EXPECT_EQ(all.at(alice.id), 3);
  EXPECT_EQ(all.at(bob.id), 4) << "the two that were cut had not started";
}

TEST_F(OwnershipTest, ABatchWaitsForTheRatesOfItsKeyAndLetsOthersPass) {
  access::KeySettings slow = all_but_admin();
  slow.limits.requests_per_minute = 2;
  const Key alice = add(slow);
  const Key bob = add(all_but_admin());
  start();
  const std::string first = create(alice, 4);
  ASSERT_TRUE(eventually([&] { return batch(alice, first)["request_counts"]["completed"] == 2; }));
  *held_ = true;
  const std::string second = create(bob, 2);
  ASSERT_TRUE(eventually([&] { return api_->engine.requests().size() == 4; }))
      << api_->engine.requests().size() << batch(alice, first) << batch(bob, second);
  EXPECT_EQ(batch(alice, first)["request_counts"]["completed"], 2);
  EXPECT_EQ(batch(alice, first)["status"], "in_progress");
  clock_.advance_us(60'000'000);
  *held_ = false;
  EXPECT_EQ(wait_for(bob, second, "completed")["request_counts"]["completed"], 2);
  ASSERT_TRUE(eventually([&] { return batch(alice, first)["request_counts"]["completed"] == 4; }));
  const Json done = wait_for(alice, first, "completed");
  EXPECT_EQ(done["request_counts"], Json::parse(R"({"total":4,"completed":4,"failed":0})"));
}

// Whoever reads slowly keeps a content in memory: no owner can take every place.
TEST_F(OwnershipTest, SlowReadersOfOneOwnerLeavePlacesToOthers) {
  const Key alice = add(all_but_admin());
  const Key bob = add(all_but_admin());
  start();
  const std::string text(std::size_t{30} << 20U, 'x');  // more than sockets hold
  const std::string of_alice = "/v1/files/" + upload(alice, text) + "/content";
  const std::string of_bob = "/v1/files/" + upload(bob, "x") + "/content";
  const auto begin = [&](RawClient& client) {
    client.send("GET " + of_alice + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + alice.text +
                "\r\n\r\n");
    return status_of(client.read_until("\r\n\r\n"));
  };
  RawClient first(api_->server->port());
  RawClient second(api_->server->port());
  ASSERT_EQ(begin(first), 200);
  ASSERT_EQ(begin(second), 200);
  RawClient third(api_->server->port());
  EXPECT_EQ(begin(third), 429);
  EXPECT_EQ(status_of(ask("GET", of_bob, bob)), 200);
}

TEST_F(OwnershipTest, AQuotaIsTheLinesError) {
  access::KeySettings limited = all_but_admin();
  limited.limits.tokens_per_day = 3;  // what one line may take
  const Key alice = add(limited);
  start();
  const Json done = wait_for(alice, create(alice, 2), "completed");
  EXPECT_EQ(done["request_counts"], Json::parse(R"({"total":2,"completed":1,"failed":1})"));
  const std::string errors = body_of(
      ask("GET", "/v1/files/" + done["error_file_id"].get<std::string>() + "/content", alice));
  EXPECT_NE(errors.find("exceeded_current_quota_error"), std::string::npos) << errors;
}

TEST_F(OwnershipTest, AKeyThatIsRevokedEndsTheRestOfItsBatch) {
  const Key alice = add(all_but_admin());
  const Key carol = add(of_the_team());
  const Key dave = add(of_the_team());
  start();
  *held_ = true;
  const std::string id = create(carol, 5);
  ASSERT_TRUE(eventually([&] { return api_->engine.requests().size() == 2; }));
  ASSERT_TRUE(store_->revoke(carol.id));
  ASSERT_TRUE(*policy_->reload_keys());
  *held_ = false;
  EXPECT_EQ(status_of(ask("GET", "/v1/batches/" + id, carol)), 401);
  const Json failed = wait_for(dave, id, "failed");
  const Json error = failed["errors"]["data"][0];
  EXPECT_EQ(error["message"], "the key of this batch: the API key was revoked") << failed;
  EXPECT_LT(api_->engine.requests().size(), 5U);
  EXPECT_EQ(wait_for(alice, create(alice, 1), "completed")["request_counts"]["completed"], 1);
}

TEST_F(OwnershipTest, KeptResponsesAreFoundByTheirOwnerAlone) {
  const Key alice = add(all_but_admin());
  const Key bob = add(all_but_admin());
  const Key carol = add(of_the_team());
  const Key dave = add(of_the_team());
  start();
  const auto respond = [&](const Key& key, const std::string& previous) {
    return ask("POST", "/v1/responses", key,
               R"({"input":"hi")" +
                   (previous.empty() ? "" : R"(,"previous_response_id":")" + previous + "\"") +
                   "}");
  };
  for (const auto& [owner, friends, others] :
       {std::tuple{alice, alice, bob}, std::tuple{carol, dave, alice}}) {
    const Json made = Json::parse(body_of(respond(owner, "")));
    const std::string id = made["id"];
    const std::string path = "/v1/responses/" + id;
    EXPECT_EQ(status_of(respond(friends, id)), 200);
    EXPECT_EQ(status_of(ask("GET", path, friends)), 200);
    EXPECT_EQ(status_of(respond(others, id)), 404);
    EXPECT_EQ(status_of(ask("GET", path, others)), 404);
    EXPECT_EQ(status_of(ask("GET", path + "/input_items", others)), 404);
    EXPECT_EQ(status_of(ask("DELETE", path, others)), 404);
    const std::string item = made["output"][0]["id"];
    const std::string by_item = R"({"input":[{"type":"item_reference","id":")" + item +
                                R"("},{"role":"user","content":"x"}]})";
    EXPECT_EQ(status_of(ask("POST", "/v1/responses", friends, by_item)), 200);
    EXPECT_EQ(status_of(ask("POST", "/v1/responses", others, by_item)), 404);
    EXPECT_EQ(status_of(ask("DELETE", path, friends)), 200);
    EXPECT_EQ(status_of(ask("GET", path, owner)), 404);
  }
}

TEST_F(OwnershipTest, ABatchOfAKeyDoesNotRunOnAServerWithoutKeys) {
  const Key alice = add(all_but_admin());
  start();
  *held_ = true;
  const std::string id = create(alice, 3);
  ASSERT_TRUE(eventually([&] { return api_->engine.requests().size() == 2; }));
  stop();
  *held_ = false;
  {
    TestApiOptions options;
    options.batches.directory = (dir_ / "state").string();
    TestApi open(TestApi::says("ok"), options);
    EXPECT_EQ(status_of(open.get("/v1/batches/" + id)), 404);
    ASSERT_TRUE(eventually([&] {
      return open.logged().find("status=failed") != std::string::npos;
    })) << open.logged();
    EXPECT_TRUE(open.engine.requests().empty());
  }
  start();
  const Json failed = batch(alice, id);
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_NE(failed["errors"].dump().find("this server has no keys"), std::string::npos) << failed;
}

}  // namespace
}  // namespace daybreak::api
