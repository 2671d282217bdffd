// SPDX-License-Identifier: Apache-2.0
#include "cli/schema_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::cli {
namespace {

std::string text_of(const Result<std::string>& answer) {
  return answer ? *answer : "! " + answer.error().message;
}

std::string check(std::string_view line) { return text_of(schema_check_line(line)); }

std::string validate(std::string_view line) {
  return text_of(schema_validate_line(line, grammar::Formats::kAnnotate));
}

TEST(SchemaLines, ChecksInBothDialects) {
  EXPECT_EQ(check(R"({"schema": {"type": "string"}})"), R"({"ok":true,"error":null})");
  EXPECT_EQ(check(R"({"schema": true, "dialect": "2020-12"})"), R"({"ok":true,"error":null})");
  EXPECT_EQ(check(R"({"schema": {"oneOf": [{}]}})"), R"({"ok":true,"error":null})");
  const std::string unique = R"({"type": "array", "uniqueItems": true})";
  EXPECT_EQ(check(R"({"schema": )" + unique + "}"), R"({"ok":true,"error":null})");
  EXPECT_EQ(
      check(R"({"schema": )" + unique + R"(, "dialect": "enforced"})"),
      R"({"ok":false,"error":"#: uniqueItems cannot be enforced exactly: its elements may be )"
      R"(objects or arrays"})");
  EXPECT_EQ(check(R"({"schema": {"oneOf": [{}]}, "dialect": "mfjs"})"),
            R"({"ok":false,"error":"At path 'root': unsupported keywords: oneOf"})");
  EXPECT_EQ(check(R"({"schema": {"minLength": -1}})"),
            R"({"ok":false,"error":"#/minLength: expected an integer of at least 0, found -1"})");
}

TEST(SchemaLines, TakesASchemaAsItsExactText) {
  EXPECT_EQ(check(R"({"schema": "{\"type\": \"string\"}", "dialect": "mfjs"})"),
            R"({"ok":true,"error":null})");
  EXPECT_NE(check(R"({"schema": "{", "dialect": "mfjs"})").find("JSON schema parsing error: "),
            std::string::npos);
  EXPECT_EQ(validate(R"({"schema": "{\"type\": \"string\"}", "instance": "{}"})"),
            R"({"ok":true,"errors":[]})");
}

TEST(SchemaLines, RefusesPatternsThatDoNotCompile) {
  EXPECT_TRUE(check(R"({"schema": {"items": {"pattern": "("}}})")
                  .starts_with(R"({"ok":false,"error":"#/items/pattern: )"));
}

TEST(SchemaLines, ReportsWhereAnInstanceFails) {
  EXPECT_EQ(validate(R"({"schema": {"items": {"type": "null"}}, "instance": [1]})"),
            "{\"ok\":false,\"errors\":[{\"instance_path\":\"/0\",\"schema_path\":\"#/items/type\","
            "\"keyword\":\"type\",\"message\":\"expected null, found 1\"}]}");
  EXPECT_EQ(validate(R"({"schema": false, "instance": {"a": 1}})"),
            "{\"ok\":false,\"errors\":[{\"instance_path\":\"\",\"schema_path\":\"#\","
            "\"keyword\":\"\",\"message\":\"expected nothing, found an object\"}]}");
}

// A schema that cannot be used is no verdict about the instance.
TEST(SchemaLines, GivesNoVerdictWithoutASchema) {
  EXPECT_EQ(validate(R"({"schema": {"$ref": "#x"}, "instance": 1})"),
            "! #/$ref: expected a reference to a schema that exists, found \"#x\"");
}

TEST(SchemaLines, RefusesOtherLines) {
  EXPECT_EQ(check("[]"), "! line: expected an object, found array");
  EXPECT_EQ(check("{}"), "! line: expected \"schema\", found none");
  EXPECT_EQ(check(R"({"schema": {}, "schema": {}})"), "! line: a member was given twice");
  EXPECT_EQ(check(R"({"schema": {}, "dialekt": "mfjs"})"),
            "! line: expected \"schema\" and \"dialect\", found \"dialekt\"");
  EXPECT_EQ(check(R"({"schema": {}, "dialect": "draft-07"})"),
            "! line: dialect: expected \"2020-12\", \"mfjs\" or \"enforced\", found \"draft-07\"");
  EXPECT_EQ(validate(R"({"schema": {}})"), "! line: expected \"instance\", found none");
}

}  // namespace
}  // namespace daybreak::cli
