// SPDX-License-Identifier: Apache-2.0
#include "api/openapi.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/completion_test_client.h"

namespace daybreak::api {
namespace {

TEST(OpenApi, DescribesEveryRouteAndNoOther) {
  TestApi api(TestApi::says("x"));
  const std::string reply = api.get("/openapi.json");
  ASSERT_EQ(testing::status_of(reply), 200);
  const Json document = Json::parse(testing::body_of(reply));
  EXPECT_EQ(document["openapi"], "3.1.0");
  std::vector<std::string> described;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      std::string upper = method;
      std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
      described.push_back(upper + " " + path);
      EXPECT_TRUE(operation["responses"].contains("200")) << path;
    }
  }
  std::vector<std::string> served = api.service->router().list();
  std::ranges::sort(described);
  std::ranges::sort(served);
  EXPECT_EQ(described, served);
}

TEST(OpenApi, EveryReferenceHasItsSchema) {
  const Json document =
      Json::parse(openapi_json({.model_names = {"nano"}, .version = "1", .limits = {}}));
  std::size_t found = 0;
  const std::function<void(const Json&)> walk = [&](const Json& value) {
    if (value.is_object() && value.contains("$ref")) {
      const auto pointer = value["$ref"].get<std::string>().substr(1);
      EXPECT_TRUE(document.contains(Json::json_pointer(pointer))) << pointer;
      ++found;
    }
    for (const Json& part : value.is_structured() ? value : Json::array()) {
      walk(part);
    }
  };
  walk(document);
  EXPECT_GT(found, 20U);
}

// A described field is read, whatever it holds; a field that is not described is reported as
// ignored.
TEST(OpenApi, DescribedFieldsAreTheFieldsThatAreRead) {
  TestApi api(TestApi::says("x"));
  const auto ignored = [&](const char* path, const std::string& body) {
    return api.post(body, path).find("x-daybreak-ignored-fields") != std::string::npos;
  };
  for (const RequestField& field : chat_fields()) {
    if (field.name != "messages") {
      const std::string more = "\"" + std::string(field.name) + "\":null";
      const std::string body = field.name == "model"
                                   ? R"({"messages":[{"role":"user","content":"hi"}],)" + more + "}"
                                   : chat_body(more);
      EXPECT_FALSE(ignored("/v1/chat/completions", body)) << field.name;
    }
  }
  for (const RequestField& field : completion_fields()) {
    if (field.name != "prompt" && field.name != "model") {
      EXPECT_FALSE(
          ignored(kCompletions, completion_body("\"" + std::string(field.name) + "\":null")))
          << field.name;
    }
  }
  EXPECT_TRUE(ignored("/v1/chat/completions", chat_body(R"("zzz":1)")));
  EXPECT_TRUE(ignored(kCompletions, completion_body(R"("zzz":1)")));
}

}  // namespace
}  // namespace daybreak::api
