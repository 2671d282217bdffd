// SPDX-License-Identifier: Apache-2.0
#include "grammar/mfjs.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::grammar {
namespace {

using L = MfjsLevel;

std::string verdict(std::string_view text, MfjsLevel level = L::kUltra,
                    const MfjsLimits& limits = {}) {
  const Status status = check_mfjs(text, level, limits);
  if (status) {
    return "ok";
  }
  EXPECT_EQ(status.error().code, Errc::kInvalidArgument);
  return status.error().message;
}

TEST(Mfjs, NamesPathAndRuleInTheClientsSpelling) {
  struct Row {
    const char* schema;
    const char* verdict;
  };
  const Row rows[] = {
      {"{}", "ok"},
      {"null", "At path 'root': schema must be a dict"},
      {"[]", "JSON schema parsing error: expected an object, found array"},
      {R"({"type":"string","anyOf":[{"type":"null"}]})",
       "At path 'root': when using anyOf, type should be defined in anyOf items instead of the "
       "parent schema"},
      {R"({"anyOf":[{"anyOf":[]}]})", "At path 'anyOf.anyOf': anyOf must have 1-500 items"},
      {R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":1}}}}})",
       "At path 'properties.a.properties.b': type must be string or array of strings"},
      {R"({"type":"int"})", "At path 'root': invalid type"},
      {R"({"type":[]})", "At path 'root': type array cannot be empty"},
      {R"({"type":["string",["null"]]})", "At path 'root': invalid type in type array"},
      {R"({"type":["string","string"]})", "At path 'type': duplicate types in type array"},
      {R"({"type":["array","null"],"items":{}})",
       "At path 'root': keyword items is not allowed in combination with multiple types"},
      {R"({"type":["array","null"],"enum":[null]})",
       "At path 'root': type array is not allowed in combination with enum"},
      {R"({"type":["string","null"],"enum":["a",null]})", "ok"},
      {R"({"type":["string","null"],"enum":["a"],"minLength":1})",
       "At path 'root': invalid keywords: minLength"},
      {R"({"type":"string","format":"date","const":"x"})",
       "At path 'root': unsupported keywords: const, format"},
      {R"({"type":"string","pattern":"^a"})", "ok"},
      {R"({"type":"object","properties":{"":{"type":"null"}}})",
       "At path 'properties': property name cannot be empty"},
      {R"({"type":"object","properties":{"anyOf":{"type":"null"}}})",
       "At path 'properties': property name 'anyOf' is reserved for JSON Schema keywords"},
      {R"({"type":"object","properties":{"a":1}})",
       "At path 'properties': property schema for 'a' must be an object"},
      {R"({"type":"object","properties":{"a":{"type":"string","$id":"x"}}})",
       "At path 'properties.a': keyword $id must be at root level"},
      {R"({"type":"string","enum":[1]})",
       "At path 'enum': enum value (1) does not match any type in [string]"},
      {R"({"type":"integer","enum":[1.5]})", "At path 'enum': not a valid integer"},
      {R"({"type":["number","null"],"enum":[null,1]})", "ok"},
      {R"({"enum":["a"]})", "At path 'root': type is not defined"},
      {R"({"type":"string","minLength":5,"maxLength":4})",
       "At path 'minLength': minLength (5) cannot be greater than maxLength (4)"},
      {R"({"type":"number","minimum":0.5,"maximum":0.5})", "ok"},
      {R"({"type":"array","items":{"type":"string","a":1,"a":2}})",
       "At path 'items': duplicate key 'a'"},
      {R"({"type":"object","required":["a","a"],"properties":{"a":{"type":"null"}}})",
       "At path 'required': duplicate items in required array: a"},
      {R"({"properties":{"a":{"type":"null"}},"required":["a"]})",
       "At path 'required': required keyword must be used with object"},
      {R"({"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"y":{}}})",
       "At path 'root': invalid $ref path: #/$defs/x"},
      {R"({"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"d"}},
           "$defs":{"x":{"type":"null","description":"e"}}})",
       "At path 'properties.a': conflicting keywords found after $ref expansion: description"},
      {R"({"type":"object","properties":{"a":{"$ref":"#/$defs/"}},"$defs":{}})",
       "At path 'properties.a.$ref': definition name cannot be empty"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(verdict(row.schema), row.verdict) << row.schema;
  }
}

TEST(Mfjs, EveryLevelAsksMore) {
  struct Row {
    const char* schema;
    MfjsLevel accepted_up_to;
  };
  const Row rows[] = {
      {R"({"type":1})", L::kLoose},
      {R"({"type":"string","enum":[]})", L::kLoose},
      {R"({"$ref":"http://x"})", L::kLoose},
      {R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})", L::kLoose},
      {R"({"type":"string","minLength":2,"maxLength":1})", L::kLite},
      {R"({"type":"string","minLength":-1})", L::kLite},
      {R"({"type":["array","null"],"items":{"type":"null"}})", L::kLite},
      {R"({"type":"string","format":"date"})", L::kStrict},
      {R"({"type":"string","anyOf":[{"type":"string"}]})", L::kStrict},
      {R"({"type":"string","enum":[1]})", L::kStrict},
      {R"({"type":"object","required":["a"]})", L::kStrict},
      {R"({"type":"object","properties":{"required":{"type":"string"}}})", L::kStrict},
      {R"({"type":"string"})", L::kUltra},
  };
  for (const Row& row : rows) {
    for (const MfjsLevel level : {L::kLoose, L::kLite, L::kStrict, L::kUltra}) {
      EXPECT_EQ(verdict(row.schema, level) == "ok", level <= row.accepted_up_to)
          << row.schema << " at level " << static_cast<int>(level);
    }
  }
  EXPECT_NE(verdict("{", L::kLoose), "ok");
}

// What no finite value satisfies is refused, and what the dialect takes for that.
TEST(Mfjs, RecursionMustEnd) {
  const std::string endless = "detected infinite recursion without termination condition";
  const auto tree = [](const std::string& properties, const std::string& required) {
    return R"({"type":"object","properties":{"name":{"type":"string"},)" + properties +
           R"(},"required":[)" + required + "]}";
  };
  const std::string child = R"("child":{"$ref":"#"})";
  const std::string list = R"("list":{"type":"array","items":{"$ref":"#"}})";
  const std::string full = R"("list":{"type":"array","items":{"$ref":"#"},"minItems":1})";
  EXPECT_EQ(verdict(tree(child, R"("name")")), "ok");
  EXPECT_EQ(verdict(tree(child, R"("name","child")")), "At path 'properties.child': " + endless);
  EXPECT_EQ(verdict(tree(list, R"("name","list")")), "ok");  // the empty list ends it
  EXPECT_EQ(verdict(tree(list, R"("list")")), "At path 'properties.list.items': " + endless);
  EXPECT_EQ(verdict(tree(full, R"("name","list")")), "At path 'properties.list.items': " + endless);
  EXPECT_EQ(verdict(tree(R"("next":{"anyOf":[{"$ref":"#"},{"type":"null"}]})", R"("next")")), "ok");
}

TEST(Mfjs, HoldsItsLimits) {
  const char* nested =
      R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"null"}}}}})";
  EXPECT_EQ(verdict(nested, L::kLite, {.max_depth = 2}), "ok");
  EXPECT_EQ(verdict(nested, L::kLite, {.max_depth = 1}),
            "At path 'properties.a.properties.b': schema depth exceeds maximum limit of 1");
  EXPECT_EQ(verdict(nested, L::kLite, {.max_properties = 2}), "ok");
  EXPECT_EQ(verdict(nested, L::kLite, {.max_properties = 1}),
            "At path 'properties.a': total number of properties keys(2) across all objects exceeds "
            "maximum limit of 1");
  EXPECT_EQ(verdict(R"({ "type" : "null" })", L::kLite, {.max_bytes = 15}), "ok");
  EXPECT_EQ(verdict(R"({ "type" : "null" })", L::kLite, {.max_bytes = 14}),
            "At path 'root': schema exceeds maximum allowed size");
  const char* two = R"({"anyOf":[{"type":"null"},{"type":"string"}]})";
  EXPECT_EQ(verdict(two, L::kLite, {.max_any_of = 2}), "ok");
  EXPECT_EQ(verdict(two, L::kLite, {.max_any_of = 1}),
            "At path 'anyOf': anyOf must have 1-1 items");
  const char* letters = R"({"type":"string","enum":["ab","cd","ef"]})";
  EXPECT_EQ(verdict(letters, L::kLite, {.max_enum_values = 3}), "ok");
  EXPECT_EQ(verdict(letters, L::kLite, {.max_enum_values = 2}),
            "At path 'enum': enum array cannot have more than 2 items");
  EXPECT_EQ(verdict(letters, L::kLite, {.max_enum_characters = 6, .enum_characters_above = 2}),
            "ok");
  EXPECT_EQ(verdict(letters, L::kLite, {.max_enum_characters = 5, .enum_characters_above = 3}),
            "ok");
  EXPECT_EQ(verdict(letters, L::kLite, {.max_enum_characters = 5, .enum_characters_above = 2}),
            "At path 'enum': total string length of enum values (6) exceeds maximum limit of 5 "
            "characters when enum has more than 2 values");
}

// Definitions that double at every step would cost 2^40 walks.
TEST(Mfjs, GivesUpOnReferenceDiamonds) {
  std::string text = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    text += "\"d" + std::to_string(i) + R"(":{"anyOf":[)" + next + "," + next + "]},";
  }
  text += R"("d40":{"type":"null"}}})";
  EXPECT_EQ(verdict(text),
            "At path 'root': reference graph is too complex to validate within the step budget");
}

}  // namespace
}  // namespace daybreak::grammar
