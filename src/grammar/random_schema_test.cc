// SPDX-License-Identifier: Apache-2.0
#include "grammar/random_schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/json_tree.h"
#include "grammar/random_text.h"

namespace daybreak::grammar {
namespace {

std::string schema_of(std::uint64_t seed, const RandomSchemaOptions& options = {}) {
  Rng rng(seed);
  return random_schema(rng, options);
}

// The keywords of `node`, and of everything below it.
void collect_keys(const JsonNode& node, std::set<std::string>& out) {
  out.insert(node.keys.begin(), node.keys.end());
  for (const JsonNode& item : node.items) {
    collect_keys(item, out);
  }
}

std::set<std::string> keys_of(std::uint32_t features, std::uint64_t seeds) {
  std::set<std::string> out;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string text = schema_of(seed, {.features = features});
    const auto tree = parse_json_tree(text);
    EXPECT_TRUE(tree) << text;
    if (tree) {
      collect_keys(*tree, out);
    }
  }
  return out;
}

TEST(RandomSchema, IsTheSameForOneSeed) {
  EXPECT_EQ(schema_of(7), schema_of(7));
  std::set<std::string> distinct;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    distinct.insert(schema_of(seed));
  }
  EXPECT_GT(distinct.size(), 90U);
}

TEST(RandomSchema, UsesTheWholeVocabulary) {
  const std::set<std::string> found = keys_of(kAllSchemaFeatures, 1500);
  for (const char* keyword : {"type",
                              "enum",
                              "const",
                              "minimum",
                              "maximum",
                              "exclusiveMinimum",
                              "exclusiveMaximum",
                              "multipleOf",
                              "minLength",
                              "maxLength",
                              "pattern",
                              "format",
                              "properties",
                              "required",
                              "additionalProperties",
                              "patternProperties",
                              "propertyNames",
                              "minProperties",
                              "maxProperties",
                              "dependentRequired",
                              "dependentSchemas",
                              "items",
                              "prefixItems",
                              "contains",
                              "minContains",
                              "maxContains",
                              "minItems",
                              "maxItems",
                              "uniqueItems",
                              "anyOf",
                              "oneOf",
                              "allOf",
                              "not",
                              "if",
                              "then",
                              "else",
                              "$ref",
                              "$defs",
                              "unevaluatedItems",
                              "unevaluatedProperties"}) {
    EXPECT_TRUE(found.contains(keyword)) << keyword;
  }
}

TEST(RandomSchema, LeavesOutWhatIsSwitchedOff) {
  struct Switch {
    std::uint32_t feature;
    std::vector<std::string> keywords;
  };
  const Switch switches[] = {
      {kUseBounds, {"minimum", "exclusiveMinimum", "exclusiveMaximum"}},
      {kUseMultipleOf, {"multipleOf"}},
      {kUseFormat, {"format"}},
      {kUsePatternProperties, {"patternProperties"}},
      {kUsePropertyNames, {"propertyNames"}},
      {kUsePropertyCounts, {"minProperties", "maxProperties"}},
      {kUseDependent, {"dependentRequired", "dependentSchemas"}},
      {kUsePrefixItems, {"prefixItems"}},
      {kUseContains, {"contains", "minContains", "maxContains"}},
      {kUseUniqueItems, {"uniqueItems"}},
      {kUseOneOf, {"oneOf"}},
      {kUseNot, {"not"}},
      {kUseIf, {"if", "then", "else"}},
      {kUseRef, {"$ref", "$defs"}},
      {kUseUnevaluated, {"unevaluatedItems", "unevaluatedProperties"}},
  };
  for (const Switch& each : switches) {
    const std::set<std::string> found = keys_of(kAllSchemaFeatures & ~each.feature, 300);
    for (const std::string& keyword : each.keywords) {
      EXPECT_FALSE(found.contains(keyword)) << keyword;
    }
  }
}

TEST(RandomSchema, StaysWithinItsSize) {
  std::size_t longest = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    longest = std::max(longest, schema_of(seed, {.max_depth = 2, .max_nodes = 8}).size());
  }
  EXPECT_LT(longest, 2500U);
  EXPECT_GT(longest, 300U);
}

TEST(RandomText, EscapesWhatJsonMustNotHoldBare) {
  EXPECT_EQ(json_quoted("a\"\\\n\x01\x1f/\xC3\xA9"), R"("a\"\\\n\u0001\u001f/)"
                                                     "\xC3\xA9\"");
}

TEST(RandomText, ValuesAreJsonWithoutDuplicateKeys) {
  Rng rng(1);
  bool nested = false;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_value(rng, 3);
    const auto tree = parse_json_tree(text);
    ASSERT_TRUE(tree) << text;
    EXPECT_EQ(tree->duplicate, JsonNode::kNoDuplicate) << text;
    nested |= !tree->items.empty() && !tree->items[0].items.empty();
  }
  EXPECT_TRUE(nested);
}

TEST(RandomText, NumbersAreSpelledAsJsonHasThem) {
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_number(rng);
    EXPECT_TRUE(parse_json_tree(text)) << text;
  }
}

}  // namespace
}  // namespace daybreak::grammar
