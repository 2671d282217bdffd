// SPDX-License-Identifier: Apache-2.0
#include "grammar/random_instance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "grammar/json_spelling.h"
#include "grammar/mutate_instance.h"
#include "grammar/random_schema.h"
#include "grammar/validator.h"

namespace daybreak::grammar {
namespace {

// A schema with its validator.
struct Judge {
  std::shared_ptr<const SchemaDocument> document;
  std::unique_ptr<const Validator> validator;

  explicit Judge(const std::string& text) {
    auto parsed = SchemaDocument::parse(text);
    EXPECT_TRUE(parsed) << text << (parsed ? "" : parsed.error().message);
    if (!parsed) {
      return;
    }
    document = *std::move(parsed);
    auto made = Validator::create(document);
    if (made) {
      validator = std::make_unique<const Validator>(*std::move(made));
    }
  }

  [[nodiscard]] bool valid(const std::string& instance) const {
    const auto tree = parse_json_tree(instance);
    EXPECT_TRUE(tree) << instance;
    if (!tree) {
      return false;
    }
    const auto result = validator->validate(*tree, {.formats = Formats::kAssert});
    return result && result->valid();
  }
};

TEST(RandomInstance, IsTheSameForOneSeed) {
  const Judge judge(R"({"type":"object","properties":{"a":{"type":"string"},"b":{}}})");
  Rng first(3);
  Rng second(3);
  std::set<std::string> distinct;
  for (int i = 0; i < 20; ++i) {
    const auto text = random_instance(*judge.document, first);
    ASSERT_TRUE(text);
    EXPECT_EQ(text, random_instance(*judge.document, second));
    distinct.insert(*text);
  }
  EXPECT_GT(distinct.size(), 5U);
}

TEST(RandomInstance, SatisfiesWhatCanBeBuilt) {
  for (const char* schema : {
           R"({"type":"integer","minimum":-3,"exclusiveMaximum":7})",
           R"({"type":"number","minimum":0.25,"maximum":0.75,"multipleOf":0.05})",
           R"({"type":"string","minLength":3,"maxLength":5})",
           R"({"type":"string","pattern":"^[a-z]{2,4}[0-9]+$","maxLength":7})",
           R"({"type":"string","format":"date"})",
           R"({"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":4})",
           R"({"type":"array","items":{"type":"integer","minimum":1,"maximum":3},"uniqueItems":true,
               "minItems":3})",
           R"({"type":"array","prefixItems":[{"const":"x"},{"type":"null"}],"items":false})",
           R"({"type":"array","items":{"type":["string","integer"]},"contains":{"const":5},
               "minContains":2})",
           R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},
               "required":["b"],"additionalProperties":false})",
           R"({"type":"object","minProperties":3,"propertyNames":{"maxLength":4},
               "additionalProperties":{"type":"null"}})",
           R"({"type":"object","properties":{"a":{},"b":{}},"required":["a"],
               "dependentRequired":{"a":["c"]},"dependentSchemas":{"b":{"required":["d"]}}})",
           R"({"type":"object","patternProperties":{"^x_":{"type":"integer"}},
               "additionalProperties":false,"minProperties":1})",
           R"({"allOf":[{"type":"object","required":["a"]},{"properties":{"a":{"enum":[1,2]}}}]})",
           R"({"anyOf":[{"type":"string","maxLength":2},{"type":"array","maxItems":0}]})",
           R"({"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"next":{"anyOf":[
               {"type":"null"},{"$ref":"#/$defs/T"}]}},"required":["next"]}}})",
       }) {
    const Judge judge(schema);
    ASSERT_TRUE(judge.validator) << schema;
    Rng rng(11);
    for (int i = 0; i < 60; ++i) {
      const auto text = random_instance(*judge.document, rng);
      ASSERT_TRUE(text) << schema;
      EXPECT_TRUE(judge.valid(*text)) << schema << "\n" << *text;
    }
  }
}

TEST(RandomInstance, ReachesBothEndsOfBounds) {
  const Judge judge(R"({"type":"integer","minimum":-2,"maximum":40,"multipleOf":2})");
  Rng rng(5);
  std::set<std::string> found;
  for (int i = 0; i < 300; ++i) {
    found.insert(random_instance(*judge.document, rng).value_or(""));
  }
  EXPECT_TRUE(found.contains("-2"));
  EXPECT_TRUE(found.contains("40"));
}

TEST(RandomInstance, GivesUpOnContradictions) {
  for (const char* schema :
       {"false", R"({"type":"integer","minimum":3,"maximum":2})", R"({"enum":[1],"type":"string"})",
        R"({"type":"object","required":["a"],"properties":{"a":false}})",
        R"({"type":"array","minItems":2,"items":false})",
        R"({"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"next":
            {"$ref":"#/$defs/T"}},"required":["next"]}}})"}) {
    const Judge judge(schema);
    Rng rng(1);
    EXPECT_FALSE(random_instance(*judge.document, rng)) << schema;
  }
}

TEST(RandomInstance, KeepsTheOrderOfTheSchemaWhenAsked) {
  const Judge judge(
      R"({"type":"object","properties":{"z":{"const":1},"a":{"const":2},"m":{"const":3}},
          "required":["m","a","z"],"additionalProperties":false})");
  Rng rng(1);
  std::set<std::string> shuffled;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(
        random_instance(*judge.document, rng, {.order = RandomInstanceOptions::Order::kSchema}),
        R"({"z":1,"a":2,"m":3})");
    shuffled.insert(*random_instance(*judge.document, rng));
  }
  EXPECT_EQ(shuffled.size(), 6U);
}

TEST(RandomInstance, WordsArePrintableWherePatternsAllowIt) {
  const Judge judge(R"({"type":"string","pattern":"^\\S+@\\S+$"})");
  Rng rng(1);
  bool odd = false;
  for (int i = 0; i < 50; ++i) {
    const auto words =
        random_instance(*judge.document, rng, {.text = RandomInstanceOptions::Text::kWords});
    ASSERT_TRUE(words);
    EXPECT_TRUE(std::ranges::all_of(*words, [](char c) { return c > ' ' && c < '\x7F'; }))
        << *words;
    const auto any = random_instance(*judge.document, rng);
    odd |= any && std::ranges::any_of(*any, [](char c) { return (c & 0x80) != 0; });
  }
  EXPECT_TRUE(odd);
}

// What makes the generator worth having: most of what it builds for random schemas is valid, and
// mutations are of both kinds.
TEST(RandomInstance, IsMostlyValidForRandomSchemas) {
  int built = 0;
  int valid = 0;
  int mutated = 0;
  int mutated_valid = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng(seed);
    const Judge judge(random_schema(rng, {.features = kModerateSchemaFeatures}));
    if (judge.validator == nullptr) {
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      const auto text = random_instance(*judge.document, rng);
      if (text) {
        ++built;
        valid += judge.valid(*text) ? 1 : 0;
        ++mutated;
        mutated_valid += judge.valid(mutate_instance(*text, rng)) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(built, 1500);
  EXPECT_GT(valid, built * 8 / 10);
  EXPECT_GT(mutated_valid, mutated / 8);
  EXPECT_LT(mutated_valid, mutated * 7 / 8);
}

}  // namespace
}  // namespace daybreak::grammar
