// SPDX-License-Identifier: Apache-2.0
// Texts made to be as costly as they can: every one compiles or is refused with an error that names
// what grew too large and where, within the budget's steps.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/budget.h"
#include "grammar/ebnf.h"
#include "grammar/message_rules.h"
#include "grammar/number_lexer.h"
#include "grammar/schema_compiler.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kSteps = CompileLimits{}.steps;

std::string key(std::size_t i) { return "\"k" + std::to_string(i) + "\""; }

std::string list(std::size_t count, const std::function<std::string(std::size_t)>& item) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ",") + item(i);
  }
  return out;
}

struct Outcome {
  std::string error;  // empty: compiled
  std::uint64_t spent = 0;
};

Outcome compile_text(std::string_view schema) {
  Budget budget(kSteps);
  SchemaCompiler compiler(budget, Formats::kAssert);
  const auto compiled = [&]() -> Status {
    DAYBREAK_TRY(const Schema* root, compiler.read(schema, {}));
    DAYBREAK_TRY(const FormulaId formula, compiler.formula(*root));
    static_cast<void>(formula);
    DAYBREAK_TRY(const CompiledSchemas schemas, compiler.finish());
    static_cast<void>(schemas);
    return ok();
  }();
  return {compiled ? "" : compiled.error().message, budget.spent()};
}

// Compiles, in so many steps at most for each byte of the text.
void expect_linear(const std::string& schema, std::uint64_t steps_per_byte) {
  const Outcome outcome = compile_text(schema);
  EXPECT_EQ(outcome.error, "");
  EXPECT_LE(outcome.spent, steps_per_byte * schema.size());
}

void expect_refused(const std::string& schema, std::string_view place, std::string_view what) {
  const Outcome outcome = compile_text(schema);
  EXPECT_TRUE(outcome.error.starts_with(std::string(place) + ": ")) << outcome.error;
  EXPECT_NE(outcome.error.find(what), std::string::npos) << outcome.error;
}

constexpr std::string_view kOutOfSteps = "compilation steps, found more";

TEST(CompileBounds, ManyMembersAreLinear) {
  const auto typed = [](std::size_t i) { return key(i) + R"(:{"type":"integer"})"; };
  const std::size_t count = 4'000;
  const std::string properties = R"("properties":{)" + list(count, typed) + "}";
  const std::string required = R"("required":[)" + list(count, key) + "]";
  expect_linear(R"({"type":"object",)" + required + "}", 10);
  expect_linear(R"({"type":"object",)" + properties + "," + required + "}", 10);
  expect_linear(R"({"type":"object","allOf":[{)" + properties + "},{" + required + "}]}", 10);
  expect_linear(R"({"type":"object","propertyNames":{"pattern":"^k"},)" + properties + "}", 20);
  expect_linear(R"({"const":{)" +
                    list(count, [](std::size_t i) { return key(i) + ":" + std::to_string(i); }) +
                    "}}",
                20);
}

TEST(CompileBounds, LongEnumsAreLinear) {
  const auto number = [](std::size_t i) { return std::to_string(7 * i); };
  const std::string numbers = R"("enum":[)" + list(2'000, number) + "]";
  expect_linear("{" + numbers + "}", 20);
  expect_linear(R"({"type":"integer","minimum":5,)" + numbers + "}", 20);
  expect_linear(R"({"type":"integer","not":{)" + numbers + "}}", 20);
  const auto consecutive = [](std::size_t i) { return std::to_string(i); };
  expect_linear(R"({"type":"integer","enum":[)" + list(50'000, consecutive) + "]}", 20);
  expect_linear(R"({"type":"string","enum":[)" + list(50'000, key) + "]}", 20);
  expect_refused(R"({"properties":{"a":{"type":"integer","enum":[)" + list(2'001, number) + "]}}}",
                 "#/properties/a", "expected at most 2000 alternatives after enum");
}

TEST(CompileBounds, LongEnumsHoldTheirNumbersOnly) {
  const auto number = [](std::size_t i) { return std::to_string(i / 100 * 101 + i % 100 + 98); };
  const std::string schema = R"({"enum":[-1,0,1.5,1e30,)" + list(5'000, number) + "]}";
  const auto grammar = compile_schema(schema);
  ASSERT_TRUE(grammar) << grammar.error().message;
  for (const std::string_view in : {"-1", "0", "1.5", "98", "197", "199", "1000", "5146"}) {
    EXPECT_TRUE(accepts(**grammar, in)) << in;
  }
  for (const std::string_view out : {"-2", "1", "1.6", "97", "198", "98.5", "299", "5147"}) {
    EXPECT_FALSE(accepts(**grammar, out)) << out;
  }
}

TEST(CompileBounds, ProductsOfAlternativesEnd) {
  const auto chain = [](std::size_t i) { return key(i) + ":[" + key(i + 1) + "]"; };
  expect_refused(R"({"properties":{"a":{"dependentRequired":{)" + list(500, chain) + "}}}}",
                 "#/properties/a", kOutOfSteps);
  const auto overlapping = [](std::size_t i) {
    return R"({"type":"object","required":[)" + key(i) + "]}";
  };
  expect_refused(R"({"items":{"oneOf":[)" + list(512, overlapping) + "]}}", "#/items", kOutOfSteps);
  const auto member = [](std::size_t i) {
    return R"({"properties":{)" + key(i) + R"(:{"type":"integer"}},"required":[)" + key(i) + "]}";
  };
  expect_refused(R"({"type":"object","allOf":[)" + list(4'000, member) + "]}", "#", kOutOfSteps);
  EXPECT_EQ(compile_text(R"({"type":"object","allOf":[)" + list(200, member) + "]}").error, "");
}

TEST(CompileBounds, ConditionalsOnOneTagCompile) {
  const auto conditional = [](std::size_t i) {
    return R"({"if":{"properties":{"t":{"const":)" + std::to_string(i) +
           R"(}},"required":["t"]},"then":{"required":[)" + key(i) + "]}}";
  };
  EXPECT_EQ(compile_text(R"({"type":"object","allOf":[)" + list(64, conditional) + "]}").error, "");
}

TEST(CompileBounds, NumbersEnd) {
  const auto range = [](std::size_t i) {
    return R"({"minimum":)" + std::to_string(3 * i) + R"(,"maximum":)" + std::to_string(3 * i + 1) +
           "}";
  };
  EXPECT_EQ(compile_text(R"({"type":"number","oneOf":[)" + list(500, range) + "]}").error, "");
  const auto multiple = [](std::size_t i) {
    return R"({"multipleOf":)" + std::to_string(2 * i + 3) + "}";
  };
  expect_refused(R"({"items":{"type":"integer","allOf":[)" + list(600, multiple) + "]}}", "#/items",
                 kOutOfSteps);
}

TEST(CompileBounds, ReferencesEnd) {
  const auto link = [](std::size_t i) {
    return "\"d" + std::to_string(i) + R"(":{"type":"object","required":["a"],"properties":{"a":)" +
           (i < 999 ? R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}" : "{}") + "}}";
  };
  EXPECT_EQ(compile_text(R"({"$ref":"#/$defs/d0","$defs":{)" + list(1'000, link) + "}}").error, "");
  // Each definition applies the next one twice: 2^40 ways through it, of 40 definitions.
  const auto twice = [](std::size_t i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    return "\"d" + std::to_string(i) + "\":" +
           (i < 39 ? R"({"allOf":[)" + next + "," + next + "]}" : R"({"properties":{"a":true}})");
  };
  const Outcome fan = compile_text(R"({"unevaluatedProperties":false,"allOf":[{"$ref":"#/$defs/d10"}
      ],"$defs":{)" + list(40, twice) +
                                   "}}");
  EXPECT_EQ(fan.error, "");
  const auto anchor = [](std::size_t i) {
    return key(i) + R"(:{"$dynamicAnchor":"a)" + std::to_string(i) + "\"}";
  };
  const auto use = [](std::size_t i) {
    return R"({"$dynamicRef":"#a)" + std::to_string(i) + "\"}";
  };
  expect_linear(
      R"({"$defs":{)" + list(2'000, anchor) + R"(},"prefixItems":[)" + list(2'000, use) + "]}", 10);
}

TEST(CompileBounds, ConditionsOnMembersEnd) {
  // Eight conditions, at most four of which one member can fulfil, and too few members for them.
  const auto condition = [](std::size_t i) {
    const auto letter = static_cast<char>('a' + i);
    return std::string(R"({"not":{"patternProperties":{"^)") + letter + R"(":{"type":"string"}}}})";
  };
  const auto name = [](std::size_t i) {
    return std::string("\"") + static_cast<char>('a' + i % 8) + std::to_string(i) +
           R"(":{"minimum":)" + std::to_string(i) + "}";
  };
  const std::string conditions = R"("allOf":[)" + list(8, condition) + "]";
  const std::string properties = R"("properties":{)" + list(500, name) + "}";
  EXPECT_EQ(
      compile_text(R"({"type":"object","maxProperties":8,)" + conditions + "," + properties + "}")
          .error,
      "");
  EXPECT_FALSE(compile_schema(R"({"type":"object","maxProperties":7,)" + conditions + "," +
                              properties + "}"));
}

TEST(CompileBounds, LeftRecursionEnds) {
  std::string text = "root ::= r0\n";
  for (std::size_t i = 0; i < 1'000; ++i) {
    text +=
        "r" + std::to_string(i) + " ::= r" + std::to_string((i + 1) % 1'000) + " \"x\" | \"b\"\n";
  }
  Budget budget(kSteps);
  const auto rules = parse_grammar(text, budget);
  ASSERT_FALSE(rules);
  EXPECT_NE(rules.error().message.find("left recursion"), std::string::npos)
      << rules.error().message;
}

// Caches are bounded by this.
TEST(GrammarBytes, CountWhatAGrammarHolds) {
  const auto choice = compile_choice(std::vector<std::string>{std::string(20'000, 'x')});
  ASSERT_TRUE(choice);
  EXPECT_GT((*choice)->bytes(), 20'000U);
  const auto regex = compile_regex_grammar(std::string(20'000, 'x'));
  ASSERT_TRUE(regex);
  EXPECT_GT((*regex)->bytes(), 20'000U);
  const auto numbers =
      compile_schema("{\"anyOf\":[" +
                     list(100,
                          [](std::size_t i) {
                            return R"({"required":["a"],"properties":{"a":{"multipleOf":)" +
                                   std::to_string(i + 2) + "}}}";
                          }) +
                     "]}");
  ASSERT_TRUE(numbers);
  EXPECT_GT((*numbers)->bytes(), 100 * sizeof(NumberLexer));
}

}  // namespace
}  // namespace daybreak::grammar
