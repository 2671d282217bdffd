// SPDX-License-Identifier: Apache-2.0
#include "grammar/meta_schemas.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace daybreak::grammar {
namespace {

constexpr std::string_view kSchema = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/schema",
"$vocabulary": {
  "https://json-schema.org/draft/2020-12/vocab/core": true,
  "https://json-schema.org/draft/2020-12/vocab/applicator": true,
  "https://json-schema.org/draft/2020-12/vocab/unevaluated": true,
  "https://json-schema.org/draft/2020-12/vocab/validation": true,
  "https://json-schema.org/draft/2020-12/vocab/meta-data": true,
  "https://json-schema.org/draft/2020-12/vocab/format-annotation": true,
  "https://json-schema.org/draft/2020-12/vocab/content": true},
"$dynamicAnchor": "meta",
"allOf": [{"$ref": "meta/core"}, {"$ref": "meta/applicator"}, {"$ref": "meta/unevaluated"},
  {"$ref": "meta/validation"}, {"$ref": "meta/meta-data"}, {"$ref": "meta/format-annotation"},
  {"$ref": "meta/content"}],
"type": ["object", "boolean"],
"properties": {
  "definitions": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"},
    "deprecated": true, "default": {}},
  "dependencies": {"type": "object", "additionalProperties": {"anyOf": [{"$dynamicRef": "#meta"},
    {"$ref": "meta/validation#/$defs/stringArray"}]}, "deprecated": true, "default": {}},
  "$recursiveAnchor": {"$ref": "meta/core#/$defs/anchorString", "deprecated": true},
  "$recursiveRef": {"$ref": "meta/core#/$defs/uriReferenceString", "deprecated": true}}
})json";

constexpr std::string_view kCore = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/meta/core",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"properties": {
  "$id": {"$ref": "#/$defs/uriReferenceString", "pattern": "^[^#]*#?$"},
  "$schema": {"$ref": "#/$defs/uriString"},
  "$ref": {"$ref": "#/$defs/uriReferenceString"},
  "$anchor": {"$ref": "#/$defs/anchorString"},
  "$dynamicRef": {"$ref": "#/$defs/uriReferenceString"},
  "$dynamicAnchor": {"$ref": "#/$defs/anchorString"},
  "$vocabulary": {"type": "object", "propertyNames": {"$ref": "#/$defs/uriString"},
    "additionalProperties": {"type": "boolean"}},
  "$comment": {"type": "string"},
  "$defs": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}}},
"$defs": {
  "anchorString": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
  "uriString": {"type": "string", "format": "uri"},
  "uriReferenceString": {"type": "string", "format": "uri-reference"}}
})json";

constexpr std::string_view kApplicator = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/meta/applicator",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"properties": {
  "prefixItems": {"$ref": "#/$defs/schemaArray"},
  "items": {"$dynamicRef": "#meta"},
  "contains": {"$dynamicRef": "#meta"},
  "additionalProperties": {"$dynamicRef": "#meta"},
  "properties": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"},
    "default": {}},
  "patternProperties": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"},
    "propertyNames": {"format": "regex"}, "default": {}},
  "dependentSchemas": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"},
    "default": {}},
  "propertyNames": {"$dynamicRef": "#meta"},
  "if": {"$dynamicRef": "#meta"},
  "then": {"$dynamicRef": "#meta"},
  "else": {"$dynamicRef": "#meta"},
  "allOf": {"$ref": "#/$defs/schemaArray"},
  "anyOf": {"$ref": "#/$defs/schemaArray"},
  "oneOf": {"$ref": "#/$defs/schemaArray"},
  "not": {"$dynamicRef": "#meta"}},
"$defs": {
  "schemaArray": {"type": "array", "minItems": 1, "items": {"$dynamicRef": "#meta"}}}
})json";

constexpr std::string_view kUnevaluated = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/meta/unevaluated",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"properties": {
  "unevaluatedItems": {"$dynamicRef": "#meta"},
  "unevaluatedProperties": {"$dynamicRef": "#meta"}}
})json";

constexpr std::string_view kValidation = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/meta/validation",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"properties": {
  "type": {"anyOf": [{"$ref": "#/$defs/simpleTypes"}, {"type": "array",
    "items": {"$ref": "#/$defs/simpleTypes"}, "minItems": 1, "uniqueItems": true}]},
  "const": true,
  "enum": {"type": "array", "items": true},
  "multipleOf": {"type": "number", "exclusiveMinimum": 0},
  "maximum": {"type": "number"},
  "exclusiveMaximum": {"type": "number"},
  "minimum": {"type": "number"},
  "exclusiveMinimum": {"type": "number"},
  "maxLength": {"$ref": "#/$defs/nonNegativeInteger"},
  "minLength": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
  "pattern": {"type": "string", "format": "regex"},
  "maxItems": {"$ref": "#/$defs/nonNegativeInteger"},
  "minItems": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
  "uniqueItems": {"type": "boolean", "default": false},
  "maxContains": {"$ref": "#/$defs/nonNegativeInteger"},
  "minContains": {"$ref": "#/$defs/nonNegativeInteger", "default": 1},
  "maxProperties": {"$ref": "#/$defs/nonNegativeInteger"},
  "minProperties": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
  "required": {"$ref": "#/$defs/stringArray"},
  "dependentRequired": {"type": "object",
    "additionalProperties": {"$ref": "#/$defs/stringArray"}}},
"$defs": {
  "nonNegativeInteger": {"type": "integer", "minimum": 0},
  "nonNegativeIntegerDefault0": {"$ref": "#/$defs/nonNegativeInteger", "default": 0},
  "simpleTypes": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
  "stringArray": {"type": "array", "items": {"type": "string"}, "uniqueItems": true,
    "default": []}}
})json";

constexpr std::string_view kMetaData = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/meta/meta-data",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"properties": {
  "title": {"type": "string"},
  "description": {"type": "string"},
  "default": true,
  "deprecated": {"type": "boolean", "default": false},
  "readOnly": {"type": "boolean", "default": false},
  "writeOnly": {"type": "boolean", "default": false},
  "examples": {"type": "array", "items": true}}
})json";

constexpr std::string_view kFormatAnnotation = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/meta/format-annotation",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"properties": {"format": {"type": "string"}}
})json";

constexpr std::string_view kContent = R"json({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/meta/content",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"properties": {
  "contentEncoding": {"type": "string"},
  "contentMediaType": {"type": "string"},
  "contentSchema": {"$dynamicRef": "#meta"}}
})json";

using Entry = std::pair<std::string_view, std::string_view>;  // URI, text
constexpr std::array<Entry, 8> kTexts = {{
    {kMetaSchemaUri, kSchema},
    {"https://json-schema.org/draft/2020-12/meta/core", kCore},
    {"https://json-schema.org/draft/2020-12/meta/applicator", kApplicator},
    {"https://json-schema.org/draft/2020-12/meta/unevaluated", kUnevaluated},
    {"https://json-schema.org/draft/2020-12/meta/validation", kValidation},
    {"https://json-schema.org/draft/2020-12/meta/meta-data", kMetaData},
    {"https://json-schema.org/draft/2020-12/meta/format-annotation", kFormatAnnotation},
    {"https://json-schema.org/draft/2020-12/meta/content", kContent},
}};

std::array<JsonNode, kTexts.size()> parse_all() {
  std::array<JsonNode, kTexts.size()> trees;
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    auto tree = parse_json_tree(kTexts[i].second);
    if (!tree) {
      std::abort();  // our own constant is broken; the tests read every one
    }
    trees[i] = *std::move(tree);
  }
  return trees;
}

}  // namespace

const JsonNode* meta_schema(std::string_view uri) {
  static const std::array<JsonNode, kTexts.size()> trees = parse_all();
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    if (kTexts[i].first == uri) {
      return &trees[i];
    }
  }
  return nullptr;
}

}  // namespace daybreak::grammar
