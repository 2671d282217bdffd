// SPDX-License-Identifier: Apache-2.0
#include "api/openapi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/batch_routes.h"
#include "api/completion_test_client.h"
#include "chat/field_table.h"
#include "testing/temporary_directory.h"

namespace daybreak::api {
namespace {

using chat::FieldRule;
using chat::FieldTable;
using chat::FieldVerdict;

Json document() {
  return Json::parse(openapi_json({.model_names = {"nano"}, .version = "1", .limits = {}}));
}

// A route with a table of fields, and a body it answers.
struct Route {
  const char* path;
  const FieldTable& fields;
  const char* body;
};

std::vector<Route> routes() {
  constexpr const char* kChat = R"({"messages":[{"role":"user","content":"hi"}]})";
  constexpr const char* kMessages =
      R"({"model":"nano","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})";
  return {{"/v1/chat/completions", chat::chat_fields(), kChat},
          {"/v1/completions", chat::completion_fields(), R"({"prompt":"hi"})"},
          {"/v1/responses", chat::responses_fields(), R"({"input":"hi"})"},
          {"/v1/messages", chat::anthropic_fields(), kMessages},
          {"/v1/messages/count_tokens", chat::anthropic_fields(), kMessages},
          {"/v1/tokenizers/estimate-token-count", chat::chat_fields(), kChat},
          {"/tokenize", chat::tokenize_fields(), kChat},
          {"/detokenize", chat::detokenize_fields(), R"({"tokens":[1]})"},
          {"/v1/batches", batch_fields(),
           R"({"input_file_id":"x","endpoint":"/v1/responses","completion_window":"24h"})"}};
}

Json body_schema(const Json& document, const std::string& path) {
  const auto schema =
      document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"];
  return document.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
}

// The schema of a field such as "messages[].partial", or null.
Json property(const Json& body, const std::string& name) {
  const std::size_t dot = name.find('.');
  std::string key = name.substr(0, dot);
  const bool list = key.ends_with("[]");
  key.resize(key.size() - (list ? 2 : 0));
  if (!body.contains("properties") || !body["properties"].contains(key)) {
    return nullptr;
  }
  const Json& found = body["properties"][key];
  return dot == std::string::npos ? found
                                  : property(list ? found["items"] : found, name.substr(dot + 1));
}

// Values that the simple constraints of a schema forbid: of another type, out of range, in its
// parts too.
std::vector<Json> forbidden(const Json& schema) {
  std::vector<Json> out;
  std::vector<std::string> types;
  for (const Json& one : schema.value("anyOf", Json::array({schema}))) {
    const Json type = one.value("type", Json());
    for (const Json& name : type.is_array() ? type : Json::array({type})) {
      types.push_back(name.is_null() ? "" : name.get<std::string>());
    }
  }
  const auto may_be = [&](const char* type) {
    return std::ranges::find(types, type) != types.end();
  };
  const Json values = schema.value("enum", Json::array());
  if (!values.empty() || schema.contains("const") || !may_be("")) {
    const std::vector<std::pair<const char*, Json>> samples = {{"string", "zzz"},
                                                               {"boolean", true},
                                                               {"array", Json::array({1.5})},
                                                               {"object", {{"zzz", 1.5}}},
                                                               {"number", 1.5}};
    for (const auto& [type, sample] : samples) {
      if (!may_be(type) && std::ranges::find(values, sample) == values.end()) {
        out.push_back(sample);
      }
    }
  }
  if (schema.contains("minimum")) {
    out.emplace_back(schema["minimum"].get<double>() - 1);
  }
  if (schema.contains("maximum")) {
    out.emplace_back(schema["maximum"].get<double>() + 1);
  }
  if (schema.contains("exclusiveMinimum")) {
    out.push_back(schema["exclusiveMinimum"]);
  }
  if (schema.contains("minLength")) {
    out.emplace_back("");
  }
  if (schema.contains("minItems")) {
    out.push_back(Json::array());
  }
  if (schema.contains("items")) {
    for (const Json& item : forbidden(schema["items"])) {
      out.push_back(Json::array({item}));
    }
  }
  if (schema.contains("additionalProperties")) {
    for (const Json& value : forbidden(schema["additionalProperties"])) {
      out.push_back({{"1", value}});
    }
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, value] : properties.items()) {
    for (const Json& item : forbidden(value)) {
      out.push_back({{key, item}});
    }
  }
  return out;
}

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
      const bool unsupported = operation["summary"].get<std::string>().starts_with("Not supported");
      EXPECT_EQ(operation["responses"].contains("200"), !unsupported) << path;
      for (const char* of_http : {"400", "408", "417", "431", "505"}) {
        EXPECT_TRUE(operation["responses"].contains(of_http)) << path << " " << of_http;
      }
      EXPECT_EQ(operation.value("parameters", Json::array()).dump().find(R"("in":"path")") !=
                    std::string::npos,
                path.find('{') != std::string::npos)
          << path;
    }
  }
  std::vector<std::string> served = api.service->router().list();
  std::ranges::sort(described);
  std::ranges::sort(served);
  EXPECT_EQ(described, served);
}

TEST(OpenApi, EveryReferenceHasItsSchema) {
  const Json all = document();
  std::size_t found = 0;
  const std::function<void(const Json&)> walk = [&](const Json& value) {
    if (value.is_object() && value.contains("$ref")) {
      const auto pointer = value["$ref"].get<std::string>().substr(1);
      EXPECT_TRUE(all.contains(Json::json_pointer(pointer))) << pointer;
      ++found;
    }
    for (const Json& part : value.is_structured() ? value : Json::array()) {
      walk(part);
    }
  };
  walk(all);
  EXPECT_GT(found, 20U);
}

TEST(OpenApi, EveryFieldThatIsHonouredOrRefusedIsDescribed) {
  const Json all = document();
  for (const Route& route : routes()) {
    const Json body = body_schema(all, route.path);
    std::size_t described = 0;
    for (const FieldRule& rule : route.fields.rules()) {
      const Json schema = property(body, std::string(rule.name));
      EXPECT_EQ(schema.is_null(), rule.verdict == FieldVerdict::kIgnored)
          << route.path << " " << rule.name;
      described += !schema.is_null() && rule.top_level() ? 1 : 0;
    }
    EXPECT_EQ(body["properties"].size(), described) << route.path;
  }
}

// A server on which every route works, and what the document says of each body.
class OpenApiFields : public ::testing::Test {
 protected:
  // Calls `each` with every field of every body.
  void for_each_field(const std::function<void(const Route&, const std::string& name,
                                               const Json& schema)>& each) const {
    for (const Route& route : routes()) {
      const Json described = body_schema(all_, route.path);
      for (const auto& [name, schema] : described["properties"].items()) {
        each(route, name, schema);
      }
    }
  }
  // The error of an answer; an empty object if there is none.
  static Json error_of(const std::string& reply) {
    const Json error = Json::parse(testing::body_of(reply)).value("error", Json());
    return error.is_object() ? error : Json::object();
  }

  testing::TemporaryDirectory files_;
  TestApi api_{TestApi::says("x"), {.batches = {.directory = files_.path().string()}}};
  const Json all_ = document();
};

// What the document says cannot be sent is refused, and the error names the field.
TEST_F(OpenApiFields, WhatASchemaForbidsIsRefusedByName) {
  std::size_t asked = 0;
  for_each_field([&](const Route& route, const std::string& name, const Json& schema) {
    for (const Json& value : forbidden(schema)) {
      Json body = Json::parse(route.body);
      body[name] = value;
      const std::string reply = api_.post(body.dump(), route.path);
      EXPECT_EQ(testing::status_of(reply), 400) << route.path << " " << body.dump();
      EXPECT_TRUE(error_of(reply).value("message", "").starts_with(name))
          << route.path << " " << body.dump() << " " << reply;
      ++asked;
    }
  });
  EXPECT_GT(asked, 500U);
}

TEST_F(OpenApiFields, WhatASchemaRequiresIsMissedByName) {
  for (const Route& route : routes()) {
    for (const Json& name : body_schema(all_, route.path).value("required", Json::array())) {
      Json body = Json::parse(route.body);
      body.erase(name.get<std::string>());
      const std::string reply = api_.post(body.dump(), route.path);
      EXPECT_EQ(testing::status_of(reply), 400) << route.path << " without " << name;
      EXPECT_NE(reply.find("\"message\":\"" + name.get<std::string>() + ": "), std::string::npos)
          << route.path << " without " << name << reply;
    }
  }
}

// The ends of what it allows are allowed.
TEST_F(OpenApiFields, WhatASchemaAllowsIsNotRefused) {
  std::size_t asked = 0;
  for_each_field([&](const Route& route, const std::string& name, const Json& schema) {
    Json values = schema.value("enum", Json::array());
    for (const char* end : {"minimum", "maximum", "const"}) {
      const bool longest = schema.contains(end) && schema[end] == std::uint64_t{1} << 32;
      if (schema.contains(end) && !longest) {  // which does not fit the context
        values.push_back(schema[end]);
      }
    }
    for (const Json& value : values) {
      Json body = Json::parse(route.body);
      if (name == "top_logprobs" && &route.fields == &chat::chat_fields()) {
        body["logprobs"] = true;
      }
      body[name] = value;
      body[name == "best_of" ? "n" : name] = value;
      const std::string reply = api_.post(body.dump(), route.path);
      EXPECT_FALSE(error_of(reply).value("message", "").starts_with(name))
          << route.path << " " << body.dump() << " " << reply;
      ++asked;
    }
  });
  EXPECT_GT(asked, 200U);
}

// A list of values that a schema has somewhere below a field.
struct Listed {
  std::string pointer;  // of the value in a body: "/messages/0/role"
  std::string path;     // what an error calls it: "messages[0].role"
  std::vector<std::string> values;
};

void find_listed(const Json& schema, const std::string& pointer, const std::string& path,
                 std::vector<Listed>& out) {
  Json values = schema.value("enum", Json::array());
  if (schema.contains("const")) {
    values.push_back(schema["const"]);
  }
  Listed listed{pointer, path, {}};
  for (const Json& value : values) {
    if (value.is_string()) {
      listed.values.push_back(value.get<std::string>());
    }
  }
  if (!listed.values.empty()) {
    out.push_back(std::move(listed));
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, part] : properties.items()) {
    find_listed(part, pointer + "/" + key, path + (path.empty() ? "" : ".") + key, out);
  }
  if (schema.contains("items")) {
    find_listed(schema["items"], pointer + "/0", path + "[0]", out);
  }
}

// Every word that some route's schema lists, and those that the APIs of others have: one that is
// lost from a schema, or from what is accepted, is still tried.
std::set<std::string> listed_words(const Json& document) {
  std::set<std::string> out = {
      "none", "minimal",  "low",     "medium",   "high",          "xhigh",     "max",
      "auto", "disabled", "enabled", "user",     "system",        "developer", "assistant",
      "tool", "default",  "flex",    "priority", "standard_only", "all",       "24h",
      "LOW",  "function", "",        "zzz"};
  for (const Route& route : routes()) {
    std::vector<Listed> found;
    find_listed(body_schema(document, route.path), "", "", found);
    for (const Listed& listed : found) {
      out.insert(listed.values.begin(), listed.values.end());
    }
  }
  return out;
}

// Whatever a schema lists, here and in the parts of a field, is accepted, and nothing else is.
TEST(OpenApi, AListOfValuesHoldsExactlyWhatIsAccepted) {
  const testing::TemporaryDirectory files;
  TestApi api(TestApi::says("x"), {.batches = {.directory = files.path().string()}});
  const Json all = document();
  const std::set<std::string> words = listed_words(all);
  std::set<std::string> paths;
  for (const Route& route : routes()) {
    std::vector<Listed> found;
    find_listed(body_schema(all, route.path), "", "", found);
    for (const Listed& listed : found) {
      paths.insert(std::string(route.path) + " " + listed.path);
      for (const std::string& word : words) {
        Json body = Json::parse(route.body);
        body[Json::json_pointer(listed.pointer)] = word;
        const Json reply = Json::parse(testing::body_of(api.post(body.dump(), route.path)));
        const Json error = reply.value("error", Json());
        const bool refused =
            error.is_object() && error.value("message", "").starts_with(listed.path + ": expected");
        const bool may = std::ranges::find(listed.values, word) != listed.values.end();
        EXPECT_EQ(refused, !may) << route.path << " " << body.dump() << " " << error;
      }
    }
  }
  for (const char* path :
       {"/v1/chat/completions messages[0].role", "/v1/chat/completions reasoning_effort",
        "/v1/responses reasoning.effort", "/v1/responses truncation",
        "/v1/messages output_config.effort", "/v1/messages messages[0].role",
        "/v1/messages/count_tokens output_config.effort"}) {
    EXPECT_TRUE(paths.contains(path)) << path << " lists nothing any more";
  }
}

// A described field is read; one that is not described is reported as ignored.
TEST(OpenApi, DescribedFieldsAreTheFieldsThatAreRead) {
  TestApi api(TestApi::says("x"));
  const auto ignored = [&](const Route& route, const std::string& name, const Json& value) {
    Json body = Json::parse(route.body);
    body[name] = value;
    return api.post(body.dump(), route.path).find("x-daybreak-ignored-fields: " + name) !=
           std::string::npos;
  };
  for (const Route& route : routes()) {
    const std::string_view path = route.path;
    if (path.ends_with("count_tokens") || path == "/v1/batches") {
      continue;  // they have no such header
    }
    EXPECT_TRUE(ignored(route, "zzz", 1)) << route.path;
    for (const FieldRule& rule : route.fields.rules()) {
      if (rule.verdict == FieldVerdict::kIgnored && rule.top_level()) {
        const Json value = rule.name == "verbosity" ? Json("low") : Json(1);
        EXPECT_TRUE(ignored(route, std::string(rule.name), value))
            << route.path << " " << rule.name;
      }
    }
  }
}

}  // namespace
}  // namespace daybreak::api
