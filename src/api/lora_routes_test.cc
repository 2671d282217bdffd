// SPDX-License-Identifier: Apache-2.0
#include "api/lora_routes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api/admission_test_server.h"
#include "engine/fake_adapter.h"

namespace daybreak::api {
namespace {

using engine::AdapterPtr;
using engine::AdapterRegistry;

constexpr const char* kLoad = "/v1/load_lora_adapter";
constexpr const char* kUnload = "/v1/unload_lora_adapter";

std::shared_ptr<AdapterRegistry> make_registry(std::size_t most = 3) {
  return std::make_shared<AdapterRegistry>(
      [](const std::filesystem::path& path, const std::string& name) -> Result<AdapterPtr> {
        if (path.filename() == "damaged") {
          return Error{Errc::kCorrupt, "truncated"};
        }
        return engine::fake_adapter(name, path.filename().string());
      },
      most);
}

class LoraRoutesTest : public AdmissionTest {
 protected:
  LoraRoutesTest() {
    for (const char* name : {"sql", "sql2", "damaged"}) {
      std::filesystem::create_directories(adapters_ / name);
    }
    user_ = add_key(access::test_settings());
    access::KeySettings settings = access::test_settings();
    settings.scopes.add(access::Scope::kAdmin);
    admin_ = add_key(settings);
  }
  void start_with(LoraOptions lora) {
    TestApiOptions options;
    options.lora = std::move(lora);
    start(TestApi::says(kAnswer), std::move(options));
  }
  void start_updating() {
    start_with({.adapters = registry_, .directory = adapters_.path().string()});
  }
  std::string act(const char* path, const std::string& name, const std::string& lora_path = "",
                  const std::string& more = "") {
    std::string body = R"({"lora_name":")" + name + "\"";
    body += lora_path.empty() ? "" : R"(,"lora_path":")" + lora_path + "\"";
    return post(body + more + "}", bearer(admin_), path);
  }
  std::string ask(const std::string& model, const std::string& key, const char* path = kChat) {
    const std::string input = std::string(path) == "/v1/responses" ? R"("input":"hi")"
                              : std::string(path) == "/v1/completions"
                                  ? R"("prompt":"hi")"
                                  : R"("max_tokens":9,"messages":[{"role":"user","content":"hi"}])";
    return post(R"({"model":")" + model + "\"," + input + "}", bearer(key), path);
  }
  Json models(const std::string& key) {
    RawClient client(api_->server->port());
    client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n" + bearer(key) + "\r\n");
    return Json::parse(body_of(client.read_response()))["data"];
  }

  testing::TemporaryDirectory adapters_;
  std::shared_ptr<AdapterRegistry> registry_ = make_registry();
  std::string user_;
  std::string admin_;
};

TEST_F(LoraRoutesTest, ALoadedAdapterIsAModelUntilItIsUnloaded) {
  start_updating();
  const std::string loaded = act(kLoad, "sql-v1", "sql");
  EXPECT_EQ(status_of(loaded), 200) << loaded;
  EXPECT_EQ(body_of(loaded), "Success: LoRA adapter 'sql-v1' added successfully.");
  const Json listed = models(user_);
  ASSERT_EQ(listed.size(), 3U);
  EXPECT_EQ(listed[2]["id"], "sql-v1");
  EXPECT_EQ(listed[2]["parent"], "nano");
  EXPECT_EQ(listed[2]["root"], std::filesystem::canonical(adapters_ / "sql").string());
  EXPECT_EQ(listed[0]["aliases"], (Json{"nano", "kimi-k3"})) << "no names of adapters";
  EXPECT_TRUE(listed[0]["parent"].is_null());
  const AdapterPtr adapter = registry_->find("sql-v1");
  for (const char* path : {kChat, "/v1/completions", "/v1/responses", kMessages}) {
    const std::string reply = ask("sql-v1", user_, path);
    ASSERT_EQ(status_of(reply), 200) << reply;
    EXPECT_EQ(Json::parse(body_of(reply))["model"], "sql-v1") << path;
    EXPECT_EQ(api_->engine.requests().back().adapter, adapter) << path;
    const std::string plain = ask("kimi-k3", user_, path);
    EXPECT_EQ(Json::parse(body_of(plain))["model"], "nano") << path;
    EXPECT_EQ(api_->engine.requests().back().adapter, nullptr) << path;
  }
  const std::string removed = act(kUnload, "sql-v1");
  EXPECT_EQ(body_of(removed), "Success: LoRA adapter 'sql-v1' removed successfully.");
  EXPECT_EQ(status_of(ask("sql-v1", user_)), 404);
  EXPECT_EQ(models(user_).size(), 2U);
  EXPECT_EQ(status_of(act(kUnload, "sql-v1")), 404);
}

TEST_F(LoraRoutesTest, TheLedgerNamesTheAdapterAtThePriceOfTheModel) {
  start_updating();
  EXPECT_EQ(status_of(act(kLoad, "sql-v1", "sql")), 200);
  EXPECT_EQ(status_of(ask("sql-v1", user_)), 200);
  EXPECT_EQ(status_of(ask("kimi-k3", user_)), 200);
  const std::vector<access::Usage> written = entries();
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written[0].model, "sql-v1");
  EXPECT_EQ(written[1].model, "nano");
  EXPECT_GT(written[0].cost_micro_usd, 0);
  EXPECT_EQ(written[0].cost_micro_usd, written[1].cost_micro_usd);
}

TEST_F(LoraRoutesTest, AKeyUsesTheAdaptersItMay) {
  access::KeySettings settings = access::test_settings();
  settings.models = {"sql-v1"};
  const std::string only = add_key(settings);
  settings.models = {"nano"};
  const std::string plain = add_key(settings);
  start_updating();
  EXPECT_EQ(status_of(act(kLoad, "sql-v1", "sql")), 200);
  EXPECT_EQ(status_of(ask("sql-v1", only)), 200);
  EXPECT_EQ(status_of(ask("nano", only)), 403);
  EXPECT_EQ(status_of(ask("sql-v1", plain)), 403);
  EXPECT_EQ(models(only).size(), 1U);
  EXPECT_EQ(models(plain).size(), 1U);
}

TEST_F(LoraRoutesTest, OnlyAnAdministratorMayAndOnlyWhereItIsOn) {
  start_updating();
  for (const char* path : {kLoad, kUnload}) {
    const std::string body = R"({"lora_name":"a","lora_path":"sql"})";
    EXPECT_EQ(status_of(post(body, "", path)), 401);
    EXPECT_EQ(status_of(post(body, bearer(user_), path)), 403);
  }
  EXPECT_EQ(registry_->find("a"), nullptr);
  start_with({.adapters = registry_, .directory = {}});
  const std::string off = act(kLoad, "a", "sql");
  EXPECT_EQ(status_of(off), 501) << off;
  EXPECT_NE(off.find("--allow-runtime-lora-updating on"), std::string::npos) << off;
  start_with({});
  EXPECT_EQ(status_of(act(kUnload, "a")), 501);
}

TEST_F(LoraRoutesTest, WrongRequestsAreRefusedAndNamed) {
  start_updating();
  EXPECT_EQ(status_of(act(kLoad, "taken", "sql")), 200);
  struct Row {
    std::string body;
    int status;
    std::string message;
  };
  const std::vector<Row> rows = {
      {R"({"lora_path":"sql"})", 400, "lora_name: expected a string, found nothing"},
      {R"({"lora_name":"a"})", 400, "lora_path: expected a string, found nothing"},
      {R"({"lora_name":"a b","lora_path":"sql"})", 400, "lora_name: expected 1 to 128 printable"},
      {R"({"lora_name":"","lora_path":"sql"})", 400, "lora_name"},
      {R"({"lora_name":"nano","lora_path":"sql"})", 400, "'nano' is a name of the model itself"},
      {R"({"lora_name":"taken","lora_path":"sql"})", 400, "'taken' is loaded already"},
      {R"({"lora_name":"a","lora_path":"none"})", 400, "expected a directory below lora_dir"},
      {R"({"lora_name":"a","lora_path":"damaged"})", 400, "truncated"},
      {R"({"lora_name":"a","lora_path":"sql","load_inplace":1})", 400, "load_inplace"},
      {"[]", 400, ""},
      {"{", 400, ""},
  };
  for (const Row& row : rows) {
    const std::string reply = post(row.body, bearer(admin_), kLoad);
    EXPECT_EQ(status_of(reply), row.status) << reply;
    EXPECT_NE(reply.find(row.message), std::string::npos) << reply;
  }
  EXPECT_EQ(registry_->list()->size(), 1U);
  const std::string replaced = act(kLoad, "taken", "sql2", R"(,"load_inplace":true)");
  EXPECT_EQ(status_of(replaced), 200) << replaced;
  EXPECT_EQ(registry_->list()->size(), 1U);
}

TEST_F(LoraRoutesTest, OneMoreThanTheBoundGets429) {
  registry_ = make_registry(1);
  start_updating();
  EXPECT_EQ(status_of(act(kLoad, "a", "sql")), 200);
  EXPECT_EQ(status_of(act(kLoad, "b", "sql2")), 429);
}

TEST_F(LoraRoutesTest, NoPathLeadsOutOfTheDirectory) {
  const testing::TemporaryDirectory outside;
  std::filesystem::create_directories(outside / "evil");
  std::filesystem::create_directory_symlink(outside / "evil", adapters_ / "link");
  std::filesystem::create_directory_symlink(adapters_ / "sql", adapters_ / "inner");
  std::filesystem::create_directories(adapters_.path().string() + "_beside");
  const std::string root = adapters_.path().string();
  for (const std::string& path :
       {outside.path().string() + "/evil", std::string("../"), std::string(".."), std::string("."),
        std::string("sql/../.."), std::string("link"), std::string(""), root, root + "_beside",
        std::string("sql\0x", 5), std::string("/")}) {
    EXPECT_FALSE(lora_path_below(root, path)) << path;
  }
  const auto canonical = std::filesystem::canonical(adapters_ / "sql");
  for (const std::string& path : {std::string("sql"), root + "/sql", std::string("./sql/"),
                                  std::string("sql2/../sql"), std::string("inner")}) {
    const auto found = lora_path_below(root, path);
    ASSERT_TRUE(found) << path;
    EXPECT_TRUE(std::filesystem::equivalent(*found, canonical)) << path;
  }
  std::filesystem::remove(root + "_beside");
}

TEST_F(LoraRoutesTest, TheMetricNamesTheBound) {
  start_updating();
  EXPECT_NE(
      api_->metrics.text().find(
          R"(vllm:lora_requests_info{max_lora="3",running_lora_adapters="",waiting_lora_adapters=""} )"),
      std::string::npos)
      << api_->metrics.text();
}

}  // namespace
}  // namespace daybreak::api
