// SPDX-License-Identifier: Apache-2.0
#include "api/model_routes.h"

#include <gtest/gtest.h>

#include <string>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

std::string get_as_anthropic(TestApi& api, const std::string& path) {
  RawClient client(api.server->port());
  client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\nAnthropic-Version: 2023-06-01\r\n\r\n");
  return client.read_response();
}

TEST(ModelRoutes, ModelsListsEveryName) {
  TestApi api(TestApi::says("x"));
  const Json json = Json::parse(body_of(api.get("/v1/models")));
  EXPECT_EQ(json["object"], "list");
  ASSERT_EQ(json["data"].size(), 2U);
  EXPECT_EQ(json["data"][0]["id"], "nano");
  EXPECT_EQ(json["data"][0]["created"], 1234);
  EXPECT_EQ(json["data"][1]["root"], "nano");
  EXPECT_TRUE(json["data"][1]["parent"].is_null());
  EXPECT_EQ(json["data"][1]["max_model_len"], api.engine.context_tokens());
  EXPECT_EQ(json["data"][1]["aliases"], (Json{"nano", "kimi-k3"}));
  EXPECT_EQ(json["data"][1]["capabilities"]["reasoning_efforts"],
            (Json{"none", "low", "high", "max"}));
  EXPECT_EQ(json["data"][1]["capabilities"]["vision"], false);
  EXPECT_FALSE(json["data"][1]["supported_parameters"].empty());
  EXPECT_EQ(Json::parse(body_of(api.get("/v1/models/kimi-k3")))["id"], "kimi-k3");
  const std::string missing = api.get("/v1/models/gpt");
  EXPECT_EQ(status_of(missing), 404);
  EXPECT_EQ(Json::parse(body_of(missing))["error"]["type"], "resource_not_found_error");
}

TEST(ModelRoutes, AnAnthropicClientGetsItsOwnShape) {
  TestApi api(TestApi::says("x"));
  const std::string reply = get_as_anthropic(api, "/v1/models");
  const Json json = Json::parse(body_of(reply));
  EXPECT_NE(reply.find("\r\nrequest-id: "), std::string::npos) << reply;
  EXPECT_EQ(body_of(api.get("/anthropic/v1/models")), body_of(reply));
  EXPECT_EQ(json["has_more"], false);
  EXPECT_EQ(json["first_id"], "nano");
  EXPECT_EQ(json["last_id"], "kimi-k3");
  ASSERT_EQ(json["data"].size(), 2U);
  const Json model = json["data"][1];
  EXPECT_EQ(model["type"], "model");
  EXPECT_EQ(model["id"], "kimi-k3");
  EXPECT_EQ(model["display_name"], "kimi-k3");
  EXPECT_EQ(model["created_at"], "1970-01-01T00:20:34.000000Z");
  EXPECT_EQ(model["max_input_tokens"], api.engine.context_tokens() - 1);
  for (const char* base : {"/v1/models/", "/anthropic/v1/models/"}) {
    EXPECT_EQ(Json::parse(body_of(get_as_anthropic(api, base + std::string("kimi-k3")))), model);
    const std::string missing = get_as_anthropic(api, base + std::string("claude"));
    EXPECT_EQ(status_of(missing), 404);
    EXPECT_EQ(Json::parse(body_of(missing))["error"]["type"], "not_found_error") << missing;
  }
}

TEST(ModelRoutes, AnthropicPagesGoBothWays) {
  TestApi api(TestApi::says("x"));
  api.service->set_model_names({"nano", "a/b", "c", "d"});
  const auto page = [&](const std::string& query) {
    const Json json = Json::parse(body_of(get_as_anthropic(api, "/v1/models?" + query)));
    std::string out;
    for (const Json& model : json["data"]) {
      out += model["id"].get<std::string>() + " ";
    }
    EXPECT_EQ(json["first_id"].is_null(), out.empty());
    return out + (json["has_more"].get<bool>() ? "more" : "end");
  };
  EXPECT_EQ(page("limit=2"), "nano a/b more");
  EXPECT_EQ(page("limit=2&after_id=a%2Fb"), "c d end");
  EXPECT_EQ(page("after_id=a/b&limit=1"), "c more");
  EXPECT_EQ(page("after_id=d"), "end");
  EXPECT_EQ(page("before_id=d&limit=2"), "a/b c more");
  EXPECT_EQ(page("before_id=a%2fb"), "nano end");
  EXPECT_EQ(page("after_id=nano&before_id=d"), "a/b c end");
  EXPECT_EQ(page("after_id=d&before_id=a/b"), "end");
  EXPECT_EQ(page("beta=true"), "nano a/b c d end");
  for (const char* bad : {"limit=0", "limit=1001", "after_id=x", "before_id=", "order=asc"}) {
    const std::string reply = get_as_anthropic(api, "/v1/models?" + std::string(bad));
    EXPECT_EQ(status_of(reply), 400) << reply;
    EXPECT_EQ(Json::parse(body_of(reply))["error"]["type"], "invalid_request_error") << reply;
  }
}

}  // namespace
}  // namespace daybreak::api
