// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server with keys, prices and a usage ledger. Test code only.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "access/access_testing.h"
#include "access/schema.h"
#include "access/usage_rows.h"
#include "api/api_test_server.h"
#include "testing/temporary_directory.h"

namespace daybreak::api {

using testing::body_of;
using testing::status_of;

inline constexpr const char* kAnswer =
    "think<|close|>think<|sep|><|open|>response<|sep|>hello you<|close|>response<|sep|>"
    "<|close|>message<|sep|><|end_of_msg|>";
inline constexpr const char* kChat = "/v1/chat/completions";
inline constexpr const char* kMessages = "/v1/messages";

class AdmissionTest : public ::testing::Test {
 protected:
  std::string add_key(const access::KeySettings& settings) {
    auto store = *access::KeyStore::open(
        {.database = db(), .pepper = {}, .missing = access::Database::Missing::kCreate});
    return store->create(settings)->text;
  }
  void start(TestApi::ScriptFn script = TestApi::says(kAnswer), TestApiOptions server = {},
             std::chrono::seconds max_wait = std::chrono::seconds(30)) {
    access::AccessOptions options;
    options.keys = *access::KeyStore::open({.database = db(), .pepper = {}});
    options.ledger = *access::Ledger::open({.database = db(), .max_wait = max_wait});
    options.prices = *access::Prices::parse(
        "usd_per_million_tokens:\n  nano: {prompt: 3, cached: 0.30, completion: 15}\n", "prices");
    options.clock = &clock_;
    server.access = *access::AccessPolicy::create(std::move(options));
    api_ = std::make_unique<TestApi>(std::move(script), std::move(server));
  }
  std::string post(const std::string& body, const std::string& headers, const char* path = kChat) {
    RawClient client(api_->server->port());
    client.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + headers +
                "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    return client.read_response();
  }
  static std::string bearer(const std::string& key) {
    return "Authorization: Bearer " + key + "\r\n";
  }
  static Json error_of(const std::string& reply) { return Json::parse(body_of(reply))["error"]; }
  std::vector<access::Usage> entries() {
    access::Database database =
        *access::open_access_database(db(), access::Database::Missing::kRefuse);
    std::vector<access::Usage> out;
    EXPECT_TRUE(access::scan_usage(database, {}, [&](const access::Usage& usage) {
      out.push_back(usage);
      return ok();
    }));
    return out;
  }
  [[nodiscard]] std::filesystem::path db() const { return dir_ / "access.db"; }

  testing::TemporaryDirectory dir_;
  access::ManualClock clock_;
  std::unique_ptr<TestApi> api_;
};

}  // namespace daybreak::api
