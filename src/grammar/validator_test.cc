// SPDX-License-Identifier: Apache-2.0
#include "grammar/validator.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::grammar {
namespace {

Result<ValidationResult> validate(std::string_view schema, const std::string& instance,
                                  const ValidationOptions& options = {}) {
  DAYBREAK_TRY(auto document, SchemaDocument::parse(schema));
  DAYBREAK_TRY(const auto validator, Validator::create(std::move(document)));
  DAYBREAK_TRY(const JsonNode node, parse_json_tree(instance));
  return validator.validate(node, options);
}

bool valid(std::string_view schema, const std::string& instance) {
  const auto result = validate(schema, instance);
  EXPECT_TRUE(result) << result.error().message << "\n" << schema;
  return result && result->valid();
}

std::string first_error(std::string_view schema, const std::string& instance) {
  const auto result = validate(schema, instance);
  if (!result || result->valid()) {
    return result ? "valid" : result.error().message;
  }
  const ValidationError& error = result->errors.front();
  return error.instance_path + " " + error.schema_path + " " + error.keyword + ": " + error.message;
}

TEST(Validator, SaysWhereAndWhy) {
  EXPECT_EQ(first_error(R"({"properties": {"a/b": {"items": {"type": "string"}}}})",
                        R"({"a/b": ["x", 1]})"),
            "/a~1b/1 #/properties/a~1b/items/type type: expected string, found 1");
  EXPECT_EQ(first_error(R"({"items": false})", "[1]"), "/0 #/items : expected nothing, found 1");
  EXPECT_EQ(first_error(R"({"required": ["a"]})", "{}"),
            " #/required required: expected the member \"a\", found none");
  EXPECT_EQ(first_error(R"({"uniqueItems": true})", "[1, 2, 1.0]"),
            " #/uniqueItems uniqueItems: expected all items to differ, found items 0 and 2 equal");
  EXPECT_EQ(first_error(R"({"enum": ["a", 1]})", "2"),
            " #/enum enum: expected one of [\"a\", 1], found 2");
}

TEST(Validator, ReportsEveryErrorUpToTheLimit) {
  const char* schema = R"({"items": {"type": "string", "enum": ["a"]}, "maxItems": 1})";
  const auto all = validate(schema, "[1, 2]");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->errors.size(), 5U);
  const auto two = validate(schema, "[1, 2]", {.max_errors = 2});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->errors.size(), 2U);
  // Branches of anyOf are one error together.
  const auto branches = validate(R"({"anyOf": [{"type": "null"}, {"type": "string"}]})", "1");
  ASSERT_TRUE(branches);
  EXPECT_EQ(branches->errors.size(), 1U);
}

TEST(Validator, IsExactAboutNumbers) {
  EXPECT_TRUE(valid(R"({"multipleOf": 0.01})", "0.07"));
  EXPECT_TRUE(valid(R"({"multipleOf": 0.0001})", "0.0075"));
  EXPECT_FALSE(valid(R"({"multipleOf": 3})", "1" + std::string(400, '0')));
  EXPECT_TRUE(valid(R"({"multipleOf": 3})", std::string(400, '3')));
  EXPECT_TRUE(valid(R"({"type": "integer"})", "10e-1"));
  EXPECT_FALSE(valid(R"({"type": "integer"})", "1e-1"));
  EXPECT_TRUE(valid(R"({"const": 100})", "1e2"));
  EXPECT_FALSE(valid(R"({"const": 9007199254740993})", "9007199254740992"));
  EXPECT_FALSE(valid(R"({"exclusiveMaximum": 0.3})", "0.30"));
  EXPECT_TRUE(valid(R"({"exclusiveMaximum": 1e400})", "9e399"));
}

TEST(Validator, CountsCodePoints) {
  EXPECT_TRUE(valid(R"({"maxLength": 2, "minLength": 2})", "\"\xF0\x9F\x98\x80\xC3\xA9\""));
  EXPECT_TRUE(valid(R"({"maxLength": 1})", R"("\ud83d\ude00")"));
}

// The traps of escapes: a pattern sees characters, and keys are compared decoded.
TEST(Validator, SeesDecodedStrings) {
  EXPECT_TRUE(valid(R"({"pattern": "^\\n$"})", R"("\n")"));
  EXPECT_FALSE(valid(R"({"pattern": "^\\n$"})", R"("\\n")"));
  EXPECT_TRUE(valid(R"({"properties": {"a": {"type": "null"}}})", R"({"\u0061": null})"));
  EXPECT_FALSE(valid(R"({"properties": {"a": {"type": "null"}}})", R"({"\u0061": 1})"));
}

TEST(Validator, RefusesKeysGivenTwice) {
  EXPECT_FALSE(valid("{}", R"({"a": 1, "\u0061": 2})"));
  EXPECT_FALSE(valid("true", R"([{"b": {"a": 1, "a": 1}}])"));
}

TEST(Validator, TracksWhatWasEvaluated) {
  const char* schema = R"({
    "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]},
              {"properties": {"b": true}, "required": ["b"]}],
    "not": {"properties": {"c": true}, "required": ["zzz"]},
    "unevaluatedProperties": false})";
  EXPECT_TRUE(valid(schema, R"({"a": 1, "b": 2})"));   // both branches count
  EXPECT_FALSE(valid(schema, R"({"a": 2, "b": 2})"));  // the branch that fails saw nothing
  EXPECT_FALSE(valid(schema, R"({"b": 2, "c": 3})"));  // nor does `not`
  const char* items = R"({"prefixItems": [true], "contains": {"type": "null"},
                          "unevaluatedItems": {"type": "string"}})";
  EXPECT_TRUE(valid(items, R"([1, null, "x", null])"));
  EXPECT_FALSE(valid(items, R"([1, null, 2])"));
}

TEST(Validator, TakesTheOutermostDynamicAnchor) {
  const char* schema = R"({
    "$id": "http://host/strings", "$ref": "list",
    "$defs": {
      "item": {"$dynamicAnchor": "item", "type": "string"},
      "list": {"$id": "list", "items": {"$dynamicRef": "#item"},
        "$defs": {"any": {"$dynamicAnchor": "item"}}}}})";
  EXPECT_TRUE(valid(schema, R"(["a"])"));
  EXPECT_FALSE(valid(schema, "[1]"));
}

TEST(Validator, AssertsFormatsOnlyWhenAsked) {
  const char* schema = R"({"format": "date"})";
  const auto remark = validate(schema, R"("2023-02-30")");
  const auto rule = validate(schema, R"("2023-02-30")", {.formats = Formats::kAssert});
  const auto kept = validate(schema, R"("2024-02-29")", {.formats = Formats::kAssert});
  ASSERT_TRUE(remark && rule && kept);
  EXPECT_TRUE(remark->valid());
  EXPECT_FALSE(rule->valid());
  EXPECT_TRUE(kept->valid());
}

TEST(Validator, NamesPatternsThatDoNotCompile) {
  const auto broken = validate(R"({"properties": {"a": {"pattern": "("}}})", "1");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message.starts_with("#/properties/a/pattern: "))
      << broken.error().message;
  const auto key = validate(R"({"patternProperties": {"a/(": {}}})", "1");
  ASSERT_FALSE(key);
  EXPECT_TRUE(key.error().message.starts_with("#/patternProperties/a~1(: ")) << key.error().message;
}

TEST(Validator, HoldsItsBounds) {
  // Sixty doublings in place: 2^60 visits without a budget.
  std::string text = R"({"$ref": "#/$defs/0", "$defs": {)";
  for (int i = 0; i < 60; ++i) {
    const std::string next = R"({"$ref": "#/$defs/)" + std::to_string(i + 1) + "\"}";
    text += "\"" + std::to_string(i) + R"(": {"allOf": [)" + next + "," + next + "]},";
  }
  text += R"("60": {}}})";
  const auto many = validate(text, "1", {.max_steps = 100'000});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Errc::kTooLarge);

  const char* tree = R"({"items": {"$ref": "#"}})";  // two schemas a level
  EXPECT_TRUE(validate(tree, "[[[]]]", {.max_depth = 5}));
  const auto deep = validate(tree, "[[[[]]]]", {.max_depth = 5});
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, Errc::kTooLarge);

  EXPECT_TRUE(validate("{}", "1", {.max_steps = 1}));
  EXPECT_FALSE(validate("{}", "1", {.max_steps = 0}));
}

// Long arrays and objects are not compared pair by pair.
TEST(Validator, IsNotQuadratic) {
  std::string array = "[0";
  std::string object = R"({"k0":0)";
  std::string required = R"({"uniqueItems": true, "required": ["k0")";
  for (int i = 1; i < 50'000; ++i) {
    array += "," + std::to_string(i);
    object += ",\"k" + std::to_string(i) + "\":0";
    required += ",\"k" + std::to_string(i) + "\"";
  }
  required += "]}";
  EXPECT_TRUE(valid(required, array + "]"));
  EXPECT_TRUE(valid(required, object + "}"));
  EXPECT_FALSE(valid(required, array + ",77]"));
}

TEST(EqualValues, ComparesAsJsonSchemaDoes) {
  const auto equal = [](const std::string& a, const std::string& b) {
    const auto left = parse_json_tree(a);
    const auto right = parse_json_tree(b);
    EXPECT_TRUE(left && right);
    const bool same = equal_values(*left, *right);
    EXPECT_EQ(same, equal_values(*right, *left));
    EXPECT_TRUE(!same || hash_value(*left) == hash_value(*right)) << a << " " << b;
    return same;
  };
  EXPECT_TRUE(equal(R"({"a": 1, "b": [1e1]})", R"({"b": [10.0], "a": 1.00})"));
  EXPECT_TRUE(equal("-0", "0.0"));
  EXPECT_TRUE(equal(R"("\u00e9")", "\"\xC3\xA9\""));
  EXPECT_FALSE(equal("1", "true"));
  EXPECT_FALSE(equal("0", "false"));
  EXPECT_FALSE(equal("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(equal(R"({"a": 1})", R"({"b": 1})"));
  EXPECT_FALSE(equal(R"({"a": 1})", R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(equal("null", "{}"));
  EXPECT_FALSE(equal("1", "-1"));
}

}  // namespace
}  // namespace daybreak::grammar
