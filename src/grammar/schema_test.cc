// SPDX-License-Identifier: Apache-2.0
#include "grammar/schema.h"

#include <gtest/gtest.h>

#include <string>

#include "grammar/meta_schemas.h"

namespace daybreak::grammar {
namespace {

std::shared_ptr<const SchemaDocument> parsed(std::string_view text) {
  auto document = SchemaDocument::parse(text);
  EXPECT_TRUE(document) << document.error().message << "\n" << text;
  return document ? *document : nullptr;
}

void expect_refused(std::string_view text, std::string_view message) {
  const auto document = SchemaDocument::parse(text);
  ASSERT_FALSE(document) << text;
  EXPECT_EQ(document.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(document.error().message, message) << text;
}

TEST(Schema, ReadsEveryKeyword) {
  const auto document = parsed(R"({
    "type": ["object", "integer"], "enum": [1], "const": {"a": 1}, "minimum": -1.5, "maximum": 1e2,
    "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 0.01, "minLength": 2.0,
    "maxLength": 3e1, "pattern": "^a", "format": "date", "prefixItems": [true, {"type": "null"}],
    "items": false, "contains": {}, "minContains": 0, "maxContains": 4, "minItems": 5,
    "maxItems": 1e30, "uniqueItems": true, "unevaluatedItems": {},
    "properties": {"b": {}, "a": {"title": "A"}}, "patternProperties": {"x/~": {}},
    "additionalProperties": false, "propertyNames": {}, "unevaluatedProperties": {},
    "required": ["b"], "minProperties": 1, "maxProperties": 2,
    "dependentRequired": {"a": ["b", "c"]}, "dependentSchemas": {"a": {}}, "allOf": [{}],
    "anyOf": [{}, {}], "oneOf": [], "not": {}, "if": {}, "then": {}, "else": {}, "unknown": 1})");
  ASSERT_NE(document, nullptr);
  const Schema& s = document->root();
  EXPECT_EQ(s.types, kObjectType | kIntegerType);
  EXPECT_EQ(s.enumeration->items.size(), 1U);
  EXPECT_EQ(s.constant->raw, R"({"a": 1})");
  EXPECT_EQ(s.minimum, *Decimal::parse("-1.5"));
  EXPECT_EQ(s.maximum, Decimal(100));
  EXPECT_EQ(s.exclusive_minimum, Decimal(0));
  EXPECT_EQ(s.exclusive_maximum, Decimal(9));
  EXPECT_EQ(s.multiple_of, *Decimal::parse("0.01"));
  EXPECT_EQ(s.min_length, 2U);
  EXPECT_EQ(s.max_length, 30U);
  EXPECT_EQ(s.pattern, "^a");
  EXPECT_EQ(s.format, "date");
  ASSERT_EQ(s.prefix_items.size(), 2U);
  EXPECT_EQ(s.prefix_items[0]->always, true);
  EXPECT_EQ(s.prefix_items[1]->path, "#/prefixItems/1");
  EXPECT_EQ(s.items->always, false);
  EXPECT_EQ(s.min_contains, 0U);
  EXPECT_EQ(s.max_contains, 4U);
  EXPECT_EQ(s.min_items, 5U);
  EXPECT_EQ(s.max_items, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(s.unique_items);
  ASSERT_EQ(s.properties.size(), 2U);
  EXPECT_EQ(s.properties[0].first, "b");
  EXPECT_EQ(s.property("a"), s.properties[1].second);
  EXPECT_EQ(s.property("c"), nullptr);
  EXPECT_EQ(s.pattern_properties[0].second->path, "#/patternProperties/x~1~0");
  EXPECT_EQ(s.required, std::vector<std::string>{"b"});
  EXPECT_EQ(s.dependent_required[0].second, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(s.all_of.size(), 1U);
  EXPECT_EQ(s.any_of.size(), 2U);
  EXPECT_TRUE(s.has_any_of);
  EXPECT_TRUE(s.has_one_of);
  EXPECT_TRUE(s.one_of.empty());
  for (const Schema::Ref child :
       {s.contains, s.unevaluated_items, s.additional_properties, s.property_names,
        s.unevaluated_properties, s.negated, s.condition, s.consequence, s.alternative}) {
    EXPECT_NE(child, nullptr);
  }
  EXPECT_GT(document->bytes(), 1000U);
}

TEST(Schema, ResolvesReferencesWhereverTheyLead) {
  const auto document = parsed(R"({
    "$id": "http://host/root.json",
    "properties": {
      "pointer": {"$ref": "#/$defs/a~1b%25~0"},
      "unknown": {"$ref": "#/definitions/old/list/1"},
      "anchor": {"$ref": "#here"},
      "relative": {"$ref": "folder/item.json"},
      "inside": {"$ref": "folder/item.json#/properties/x"},
      "absolute": {"$ref": "http://host/folder/item.json#inner"},
      "urn": {"$ref": "urn:example:one"},
      "self": {"$ref": "#"},
      "recursive": {"items": {"$ref": "#/properties/recursive"}}},
    "definitions": {"old": {"list": [0, {"type": "null", "$ref": "#here"}]}},
    "$defs": {"a/b%~": {"type": "string"}, "h": {"$anchor": "here"},
      "item": {"$id": "folder/item.json", "$anchor": "inner",
        "properties": {"x": {"$ref": "#inner"}}},
      "urn": {"$id": "urn:example:one"}}})");
  ASSERT_NE(document, nullptr);
  const Schema& root = document->root();
  const auto target = [&](std::string_view name) { return root.property(name)->ref->path; };
  EXPECT_EQ(target("pointer"), "#/$defs/a~1b%~0");
  EXPECT_EQ(target("unknown"), "#/definitions/old/list/1");
  EXPECT_EQ(root.property("unknown")->ref->ref->path, "#/$defs/h");
  EXPECT_EQ(target("anchor"), "#/$defs/h");
  EXPECT_EQ(target("relative"), "#/$defs/item");
  EXPECT_EQ(target("inside"), "#/$defs/item/properties/x");
  EXPECT_EQ(target("absolute"), "#/$defs/item");
  EXPECT_EQ(target("urn"), "#/$defs/urn");
  EXPECT_EQ(root.property("self")->ref, &root);
  EXPECT_NE(root.property("relative")->ref->resource, root.resource);
}

TEST(Schema, KeepsWhatDynamicReferencesNeed) {
  const auto document = parsed(R"({
    "$id": "http://host/a", "$dynamicAnchor": "node", "properties": {
      "dynamic": {"$dynamicRef": "#node"}, "plain": {"$dynamicRef": "#fixed"},
      "pointer": {"$dynamicRef": "#/$defs/fixed"}},
    "$defs": {"fixed": {"$anchor": "fixed"}, "b": {"$id": "b", "$dynamicAnchor": "node"}}})");
  ASSERT_NE(document, nullptr);
  const Schema& root = document->root();
  EXPECT_EQ(root.property("dynamic")->dynamic_ref, &root);
  EXPECT_EQ(root.property("dynamic")->dynamic_anchor, "node");
  EXPECT_EQ(root.property("plain")->dynamic_ref->path, "#/$defs/fixed");
  EXPECT_EQ(root.property("plain")->dynamic_anchor, "");
  EXPECT_EQ(root.property("pointer")->dynamic_anchor, "");
  EXPECT_EQ(document->dynamic_target(0, "node"), &root);
  EXPECT_EQ(document->dynamic_target(1, "node")->path, "#/$defs/b");
  EXPECT_EQ(document->dynamic_target(1, "other"), nullptr);
  EXPECT_EQ(document->dynamic_target(7, "node"), nullptr);
}

TEST(Schema, KnowsTheMetaSchema) {
  for (const char* part :
       {"schema", "meta/core", "meta/applicator", "meta/unevaluated", "meta/validation",
        "meta/meta-data", "meta/format-annotation", "meta/content"}) {
    const std::string uri = "https://json-schema.org/draft/2020-12/" + std::string(part);
    ASSERT_NE(meta_schema(uri), nullptr) << uri;
    const auto document = parsed(R"({"$ref": ")" + uri + R"("})");
    ASSERT_NE(document, nullptr);
    EXPECT_EQ(document->root().ref->path, uri + "#");
    EXPECT_NE(parsed(meta_schema(uri)->raw), nullptr);  // and each is a schema of its own
  }
  EXPECT_EQ(meta_schema("https://json-schema.org/draft-07/schema"), nullptr);
}

TEST(Schema, RefusesWithPathExpectationAndFinding) {
  expect_refused("[]", "#: expected a schema: an object, true or false, found an array");
  expect_refused(R"({"properties": {"a": 1}})",
                 "#/properties/a: expected a schema: an object, true or false, found 1");
  expect_refused(R"({"items": [{}]})",
                 "#/items: expected a schema (2020-12 spells a list of schemas prefixItems), found "
                 "an array");
  expect_refused(R"({"minLength": -1})",
                 "#/minLength: expected an integer of at least 0, found -1");
  expect_refused(R"({"maxItems": 1.5})",
                 "#/maxItems: expected an integer of at least 0, found 1.5");
  expect_refused(R"({"minimum": "0"})", R"(#/minimum: expected a number, found "0")");
  expect_refused(R"({"multipleOf": 0})", "#/multipleOf: expected a number above 0, found 0");
  expect_refused(R"({"exclusiveMinimum": true})",
                 "#/exclusiveMinimum: expected a number, found true");
  expect_refused(R"({"type": "int"})",
                 "#/type: expected null, boolean, integer, number, string, array, object or an "
                 "array of them, found \"int\"");
  expect_refused(R"({"required": "a"})", R"(#/required: expected an array of strings, found "a")");
  expect_refused(R"({"uniqueItems": 1})", "#/uniqueItems: expected true or false, found 1");
  expect_refused(R"({"pattern": 1})", "#/pattern: expected a string, found 1");
  expect_refused(R"({"not": {"enum": 1}})", "#/not/enum: expected an array, found 1");
  expect_refused(R"({"$defs": {"a": {"x": 1, "b~/": {"y": 1, "y": 2}}}})",
                 "#/$defs/a/b~0~1/y: expected every key once, found it twice");
  expect_refused(R"({"$id": "a#b"})",
                 R"(#/$id: expected a URI without fragment ($anchor names a place), found "a#b")");
  expect_refused(R"({"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}})",
                 R"(#/$defs/b/$id: expected a URI that no other schema has, found "x")");
  expect_refused(R"({"$anchor": "1"})",
                 R"(#/$anchor: expected a name of letters, digits, '-', '_' and '.', found "1")");
  expect_refused(R"({"$anchor": "a", "not": {"$anchor": "a"}})",
                 R"(#/not/$anchor: expected another anchor than that of #, found "a")");
}

TEST(Schema, RefusesReferencesThatLeadNowhere) {
  for (const char* ref : {"#/$defs/x", "#nowhere", "#/not/x", "#/allOf/01", "#/allOf/-",
                          "#/allOf/9", "#/a~2", "#%zz"}) {
    expect_refused(R"({"allOf": [{}], "properties": {"p": {"$ref": ")" + std::string(ref) + "\"}}}",
                   "#/properties/p/$ref: expected a reference to a schema that exists, found \"" +
                       std::string(ref) + "\"");
  }
  expect_refused(R"({"$ref": "http://localhost:1234/x.json#/a"})",
                 "#/$ref: expected a reference into this schema, found "
                 "\"http://localhost:1234/x.json#/a\", a document that is not here");
  expect_refused(R"({"const": {"$id": "x"}, "$ref": "x"})",
                 "#/$ref: expected a reference into this schema, found \"x\", a document that is "
                 "not here");
}

TEST(Schema, RefusesCirclesThatNeverReachTheInstance) {
  for (const char* text : {
           R"({"$ref": "#"})",
           R"({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})",
           R"({"allOf": [{"$ref": "#"}]})",
           R"({"anyOf": [{"type": "null"}, {"$ref": "#"}]})",
           R"({"oneOf": [{"not": {"$ref": "#"}}]})",
           R"({"if": {"$ref": "#/else"}, "else": {"$ref": "#"}})",
           R"({"then": {"$ref": "#"}})",
           R"({"dependentSchemas": {"a": {"$ref": "#"}}})",
           R"({"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]})",
       }) {
    const auto document = SchemaDocument::parse(text);
    ASSERT_FALSE(document) << text;
    EXPECT_NE(document.error().message.find("found a circle back to #"), std::string::npos)
        << document.error().message;
  }
  // Reaching a part of the instance on the way is no circle.
  for (const char* text :
       {R"({"items": {"$ref": "#"}})", R"({"additionalProperties": {"$ref": "#"}})",
        R"({"propertyNames": {"$ref": "#"}})", R"({"contains": {"$ref": "#"}})",
        R"({"unevaluatedItems": {"$ref": "#"}})"}) {
    EXPECT_NE(parsed(text), nullptr);
  }
}

TEST(Schema, RefusesDialectsItDoesNotKnowAndOldSpellings) {
  EXPECT_NE(parsed(R"({"$schema": "https://json-schema.org/draft/2020-12/schema#"})"), nullptr);
  EXPECT_NE(parsed(R"({"$schema": "http://json-schema.org/draft-07/schema#"})"), nullptr);
  EXPECT_NE(parsed(R"({"dependencies": {"a": ["b"]}})"), nullptr);
  expect_refused(R"({"$schema": "http://example.com/mine"})",
                 "#/$schema: expected https://json-schema.org/draft/2020-12/schema, found "
                 "\"http://example.com/mine\"");
  expect_refused(
      R"({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}})",
      "#/dependencies: expected dependentRequired or dependentSchemas, found an older draft's "
      "keyword");
  // Wherever $schema stands among the keywords.
  expect_refused(R"({"not": {"$recursiveRef": "#"},
                     "$schema": "https://json-schema.org/draft/2019-09/schema"})",
                 "#/not/$recursiveRef: expected $dynamicRef, found an older draft's keyword");
}

TEST(Schema, HoldsItsLimits) {
  const auto code = [](std::string_view text, const SchemaLimits& limits) {
    const auto document = SchemaDocument::parse(text, limits);
    return document ? std::string("ok") : std::string(to_string(document.error().code));
  };
  EXPECT_EQ(code("{}", {.max_bytes = 2}), "ok");
  EXPECT_EQ(code("{ }", {.max_bytes = 2}), "too_large");
  EXPECT_EQ(code(R"({"not":{"not":{}}})", {.max_depth = 3}), "ok");
  EXPECT_EQ(code(R"({"not":{"not":{"not":{}}}})", {.max_depth = 3}), "invalid_argument");
  EXPECT_EQ(code(R"({"allOf":[{},{}]})", {.max_nodes = 3}), "ok");
  EXPECT_EQ(code(R"({"allOf":[{},{},{}]})", {.max_nodes = 3}), "too_large");
  EXPECT_EQ(code(R"({"not":{}})", {.max_path_bytes = 6}), "ok");  // "#" and "#/not"
  EXPECT_EQ(code(R"({"not":{}})", {.max_path_bytes = 5}), "too_large");
  EXPECT_EQ(code(R"({"minimum": 1e9999999999})", {}), "too_large");
}

// A chain of references as long as the limit allows costs no stack.
TEST(Schema, FollowsLongChains) {
  std::string text = R"({"$ref": "#/$defs/0", "$defs": {)";
  constexpr int kLinks = 20'000;
  for (int i = 0; i < kLinks; ++i) {
    const std::string next =
        i + 1 < kLinks ? R"({"$ref":"#/$defs/)" + std::to_string(i + 1) + "\"}" : std::string("{}");
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + next;
  }
  EXPECT_NE(parsed(text + "}}"), nullptr);
}

}  // namespace
}  // namespace daybreak::grammar
