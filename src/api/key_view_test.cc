// SPDX-License-Identifier: Apache-2.0
// What a caller is told about keys and limits: the models of his, what a route needs, what would
// fit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "api/admission_test_server.h"
#include "api/completion_test_client.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

class KeyViewTest : public AdmissionTest {};

TEST_F(KeyViewTest, AKeySeesTheModelsItMayUse) {
  access::KeySettings settings = access::test_settings();
  settings.models = {"kimi-k3", "elsewhere"};
  const std::string one = add_key(settings);
  settings.models = {"elsewhere"};
  const std::string none = add_key(settings);
  const std::string all = add_key(access::test_settings());
  start();
  const auto get = [&](const std::string& path, const std::string& key, const char* header = "") {
    RawClient client(api_->server->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + header + bearer(key) + "\r\n");
    return client.read_response();
  };
  const auto ids = [&](const std::string& key, const char* header) {
    std::string out;
    const Json models = Json::parse(body_of(get("/v1/models", key, header)));
    for (const Json& model : models["data"]) {
      out += model["id"].get<std::string>() + " ";
    }
    return out;
  };
  for (const char* header : {"", "anthropic-version: 2023-06-01\r\n"}) {
    EXPECT_EQ(ids(all, header), "nano kimi-k3 ") << header;
    EXPECT_EQ(ids(one, header), "kimi-k3 ") << header;
    EXPECT_EQ(ids(none, header), "") << header;
    EXPECT_EQ(status_of(get("/v1/models/nano", all, header)), 200);
    EXPECT_EQ(status_of(get("/v1/models/kimi-k3", one, header)), 200);
    for (const std::string& key : {one, none}) {
      const std::string hidden = get("/v1/models/nano", key, header);
      EXPECT_EQ(status_of(hidden), 404) << hidden;
      EXPECT_EQ(body_of(hidden).find(" or nano"), std::string::npos) << hidden;
    }
  }
  EXPECT_EQ(Json::parse(body_of(get("/v1/models", one)))["data"][0]["aliases"], Json{"kimi-k3"});
}

TEST_F(KeyViewTest, AnUnknownModelNamesOnlyThoseTheKeyMayUse) {
  access::KeySettings settings = access::test_settings();
  const std::string all = add_key(settings);
  settings.models = {"kimi-k3", "elsewhere"};
  const std::string one = add_key(settings);
  settings.models = {"elsewhere"};
  const std::string none = add_key(settings);
  start();
  const std::string turns = R"("messages":[{"role":"user","content":"hi"}])";
  for (const auto& [path, rest] : std::vector<std::pair<const char*, std::string>>{
           {kChat, turns},
           {"/invocations", turns},
           {"/v1/completions", R"("prompt":"hi")"},
           {"/v1/responses", R"("input":"hi")"},
           {"/v1/responses/input_tokens", R"("input":"hi")"},
           {kMessages, R"("max_tokens":5,)" + turns},
           {"/v1/messages/count_tokens", turns},
           {"/tokenize", R"("prompt":"hi")"},
           {"/detokenize", R"("tokens":[1])"},
           {"/v1/tokenizers/estimate-token-count", turns}}) {
    const std::string body = R"({"model":"gpt-x",)" + rest + "}";
    const auto message = [&](const std::string& key) {
      const std::string reply = post(body, bearer(key), path);
      EXPECT_EQ(status_of(reply), 404) << path << reply;
      const std::string text = error_of(reply)["message"];
      return text.substr(text.find("no model"));
    };
    EXPECT_EQ(message(all), "no model 'gpt-x' here, expected nano or kimi-k3") << path;
    EXPECT_EQ(message(one), "no model 'gpt-x' here, expected kimi-k3") << path;
    EXPECT_EQ(message(none), "no model 'gpt-x' here, nor any other that this key may use") << path;
  }
}

TEST_F(KeyViewTest, TheDocumentSaysWhichKeyARouteNeeds) {
  const std::string key = add_key(access::test_settings());
  start();
  const Json document = Json::parse(body_of(api_->get("/openapi.json")));
  EXPECT_EQ(document["servers"], Json::parse(R"([{"url":"/"}])"));
  const Json schemes = document["components"]["securitySchemes"];
  EXPECT_EQ(schemes["bearer"], Json::parse(R"({"type":"http","scheme":"bearer"})"));
  EXPECT_EQ(schemes["x-api-key"],
            Json::parse(R"({"type":"apiKey","in":"header","name":"x-api-key"})"));
  const auto security = [&](const char* path, const char* method) {
    return document["paths"][path][method].value("security", Json("none")).dump();
  };
  const auto either = [](const std::string& scope) {
    return R"([{"bearer":[")" + scope + R"("]},{"x-api-key":[")" + scope + "\"]}]";
  };
  for (const char* path : {kChat, kMessages, "/anthropic/v1/messages/count_tokens"}) {
    EXPECT_EQ(security(path, "post"), either("inference"));
  }
  EXPECT_EQ(security("/v1/models", "get"), either("inference"));
  EXPECT_EQ(security("/v1/files", "get"), either("files"));
  EXPECT_EQ(security("/v1/batches", "post"), either("batch"));
  EXPECT_EQ(security("/slots", "get"), either("admin"));
  EXPECT_EQ(security("/debug/timeline", "get"), either("admin"));
  // What it says holds: without a key exactly these routes refuse, and a key is known to all of
  // them by either header.
  std::size_t guarded = 0;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      std::string verb = method;
      std::ranges::transform(verb, verb.begin(), [](char c) { return std::toupper(c); });
      RawClient client(api_->server->port());
      client.send(verb + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
      EXPECT_EQ(status_of(client.read_response()) == 401, operation.contains("security"))
          << verb << " " << path;
      for (const std::string& header : {bearer(key), "x-api-key: " + key + "\r\n"}) {
        RawClient known(api_->server->port());
        known.send(verb + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" + header +
                   "\r\n");
        EXPECT_NE(status_of(known.read_response()), 401) << verb << " " << path << " " << header;
      }
      guarded += operation.contains("security") ? 1 : 0;
    }
  }
  EXPECT_GT(guarded, 30U);
  TestApi open(TestApi::says("x"));
  const std::string text = body_of(open.get("/openapi.json"));
  EXPECT_EQ(text.find("security"), std::string::npos) << "an open server needs no key";
}

TEST_F(KeyViewTest, ARefusalForTheLengthSaysWhatMakesTheRequestFit) {
  access::KeySettings settings = access::test_settings();
  settings.limits.tokens_per_minute = 400;
  const std::string minute = add_key(settings);
  settings.limits = {};
  settings.limits.tokens_per_month = 400;
  const std::string month = add_key(settings);
  start();
  for (const std::string& key : {minute, month}) {
    const auto message = [&](const std::string& body, const char* path) {
      const std::string reply = post(body, bearer(key), path);
      EXPECT_EQ(status_of(reply), 413) << reply;
      return error_of(reply)["message"].get<std::string>();
    };
    const std::string fits = " is not given and taken as ";
    EXPECT_NE(message(chat_body(), kChat).find("; max_completion_tokens (or max_tokens)" + fits),
              std::string::npos);
    EXPECT_NE(message(R"({"input":"hi"})", "/v1/responses").find("; max_output_tokens" + fits),
              std::string::npos);
    EXPECT_TRUE(message(chat_body(R"("max_tokens":500)"), kChat)
                    .ends_with("; a smaller max_tokens than 500 may make it fit"));
    EXPECT_TRUE(message(completion_body(R"("max_tokens":500)"), "/v1/completions")
                    .ends_with("; a smaller max_tokens than 500 may make it fit"));
    EXPECT_TRUE(
        message(R"({"model":"nano","max_tokens":500,"messages":[{"role":"user","content":"hi"}]})",
                kMessages)
            .ends_with("; a smaller max_tokens than 500 may make it fit"));
  }
  settings.limits = {};
  settings.limits.concurrency = 0;
  const std::string reply = post(chat_body(), bearer(add_key(settings)));
  EXPECT_EQ(reply.find("may make it fit"), std::string::npos) << reply;
}

}  // namespace
}  // namespace daybreak::api
