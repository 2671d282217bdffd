// SPDX-License-Identifier: Apache-2.0
// What the automaton takes and refuses, schema by schema, on whole texts.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "grammar/message_rules.h"

namespace daybreak::grammar {
namespace {

struct Case {
  std::string_view schema;
  std::vector<std::string_view> taken;
  std::vector<std::string_view> refused;
};

void check(const Case& one) {
  const auto grammar = compile_schema(one.schema);
  ASSERT_TRUE(grammar) << one.schema << ": " << grammar.error().message;
  for (const std::string_view text : one.taken) {
    EXPECT_TRUE(accepts(**grammar, text)) << one.schema << " takes " << text;
  }
  for (const std::string_view text : one.refused) {
    EXPECT_FALSE(accepts(**grammar, text)) << one.schema << " refuses " << text;
  }
}

TEST(Automaton, TakesJsonAndNothingElse) {
  check({"true",
         {"null", "true", "false", "0", "-0", "-1.5e+3", R"("")", R"("é\n\u00e9😀")", "[]", "{}",
          R"({"a":[1,{"b":null}],"c":"x"})", "[[],[[]]]", R"("\ud83d\ude00")"},
         {"",         "nul",         "01",          "1.",          ".5",        "+1",
          "[1,]",     "[,1]",        "{,}",         R"({"a"})",    R"({"a":})", R"({a:1})",
          "'a'",      R"("\x")",     R"("\ud83d")", R"("\ude00")", "\"\n\"",    "[1 ,2]",
          " 1",       "1 ",          "[1, 2]",      R"({"a": 1})", "truefalse", R"("\u12")",
          "\"\xff\"", "\"\xc0\x80\""}});
}

TEST(Automaton, RefusesAKeyGivenTwiceHoweverItIsSpelled) {
  check({R"({"type":"object"})",
         {R"({"a":1,"b":2})", R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})", R"({"":1,"a":2})"},
         {R"({"a":1,"a":2})", R"({"a":1,"\u0061":2})", R"({"\u0061":1,"a":2})", R"({"":1,"":2})",
          R"({"\ud83d\ude00":1,"😀":2})"}});
  check({R"({"properties":{"a":{"type":"integer"}},"required":["a"]})",
         {R"({"a":1})", R"({"b":0,"a":1})", R"({"\u0061":1})"},
         {R"({"a":"x"})", R"({"\u0061":"x"})", R"({"a":1,"\u0061":2})", "{}"}});
}

TEST(Automaton, ReadsPropertiesInAnyOrder) {
  check({R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},
             "ab":{"type":"null"}},"required":["a","ab"],"additionalProperties":false})",
         {R"({"a":1,"ab":null})", R"({"ab":null,"b":"x","a":1})", R"({"b":"","a":1,"ab":null})"},
         {R"({"a":1})", R"({"a":1,"ab":null,"c":1})", R"({"a":1,"ab":null,"a":2})",
          R"({"a":1,"ab":null,})", R"({"a":"1","ab":null})"}});
}

TEST(Automaton, PatternsSeeCharactersNotEscapes) {
  check({R"({"type":"string","pattern":"^\\n$"})",
         {R"("\n")", R"("\u000a")", R"("\u000A")"},
         {R"("n")", R"("\\n")", R"("")", "\"\n\""}});
  check({R"({"type":"string","pattern":"^[a-c]{2}$"})",
         {R"("ab")", R"("\u0061b")"},
         {R"("a")", R"("abc")", R"("ad")", R"("\u0064a")"}});
  check({R"({"type":"string","minLength":2,"maxLength":3})",
         {R"("ab")", R"("😀é")", R"("\ud83d\ude00a")", R"("abc")"},
         {R"("a")", R"("😀")", R"("abcd")", R"("")"}});
}

TEST(Automaton, HoldsNumbersToTheirBounds) {
  check({R"({"type":"integer","minimum":-3,"exclusiveMaximum":12})",
         {"-3", "0", "11", "-0", "7.0"},
         {"-4", "12", "7.5", "1e1", "100", "\"7\""}});
  check({R"({"type":"number","multipleOf":0.01,"minimum":0.5,"maximum":0.6})",
         {"0.5", "0.55", "0.60", "0.6"},
         {"0.555", "0.61", "0.49", "1"}});
}

TEST(Automaton, CombinesSchemas) {
  check({R"({"anyOf":[{"type":"object","properties":{"t":{"const":"a"},"x":{"type":"integer"}},
             "required":["t","x"]},{"type":"object","properties":{"t":{"const":"b"}},
             "required":["t"]}]})",
         {R"({"t":"a","x":1})", R"({"x":1,"t":"a"})", R"({"x":"s","t":"b"})", R"({"t":"b"})"},
         {R"({"t":"a"})", R"({"x":"s","t":"a"})", R"({"t":"c"})", "{}"}});
  check({R"({"oneOf":[{"type":"integer"},{"minimum":2}]})",
         {"1", "2.5", R"("x")", "null"},
         {"3", "1.5"}});
  check({R"({"allOf":[{"required":["a"]},{"required":["b"]},{"maxProperties":2}]})",
         {R"({"b":1,"a":2})", "1"},
         {R"({"a":1})", R"({"a":1,"c":1})", R"({"a":1,"b":1,"c":1})"}});
  check({R"({"not":{"type":"object","required":["a"]}})",
         {"1", "{}", R"({"b":1})"},
         {R"({"a":1})", R"({"b":1,"a":1})"}});
  check({R"({"if":{"properties":{"k":{"const":1}},"required":["k"]},"then":{"required":["x"]},
             "else":{"required":["y"]}})",
         {R"({"k":1,"x":0})", R"({"x":0,"k":1})", R"({"k":2,"y":0})", R"({"y":1})", "3"},
         {R"({"k":1})", R"({"k":1,"y":0})", R"({"k":2,"x":0})", "{}"}});
}

TEST(Automaton, KnowsConditionsBetweenMembers) {
  check({R"({"dependentRequired":{"a":["b","c"]}})",
         {"{}", R"({"b":1})", R"({"a":1,"b":1,"c":1})", R"({"c":1,"b":1,"a":1})"},
         {R"({"a":1})", R"({"a":1,"b":1})"}});
  check({R"({"type":"object","propertyNames":{"pattern":"^[a-b]+$","maxLength":2},
             "minProperties":2})",
         {R"({"a":1,"ab":2})"},
         {R"({"a":1})", R"({"a":1,"c":2})", R"({"a":1,"aba":2})"}});
  check({R"({"patternProperties":{"^x":{"type":"integer"},"y$":{"minimum":5}},
             "additionalProperties":false})",
         {R"({"x":1,"ay":7})", R"({"xy":5})", R"({"ay":"s"})"},
         {R"({"xy":4})", R"({"xy":5.5})", R"({"a":1})", R"({"x":"s"})"}});
  // Only two keys match: a third member cannot begin.
  check({R"({"type":"object","propertyNames":{"pattern":"^[ab]$"},"maxProperties":5})",
         {R"({"a":1,"b":1})"},
         {R"({"a":1,"b":1,)", R"({"a":1,"b":1,"a":2})"}});
}

TEST(Automaton, KnowsConditionsBetweenElements) {
  check({R"({"type":"array","contains":{"const":7},"minContains":2,"maxContains":3})",
         {"[7,7]", "[1,7,2,7]", "[7,7,7,8]"},
         {"[7]", "[7,7,7,7]", "[]", "[1,2]"}});
  check({R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false})",
         {"[]", "[1]", R"([1,"a"])"},
         {R"(["a"])", R"([1,"a",2])", "[1,2]"}});
  check(
      {R"({"type":"array","items":{"enum":[1,"a",null,true]},"uniqueItems":true,"minItems":2})",
       {R"([1,"a",null,true])", "[null,1]"},
       {"[1,1]", "[1,1.0]", R"(["a","\u0061"])", "[true,true]", R"([1,"a",null,true,1])", "[1]"}});
}

TEST(Automaton, FollowsReferences) {
  check({R"({"$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},
             "next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["v","next"],
             "additionalProperties":false}},"$ref":"#/$defs/n"})",
         {R"({"v":1,"next":null})", R"({"next":{"v":2,"next":null},"v":1})"},
         {R"({"v":1})", R"({"v":1,"next":{"v":2}})", R"({"v":1,"next":1})"}});
}

TEST(Automaton, RefusesASchemaThatNothingSatisfies) {
  for (
      const std::string_view schema :
      {"false", R"({"type":"integer","minimum":2,"maximum":1})",
       R"({"type":"object","required":["a"],"properties":{"a":false}})",
       R"({"$defs":{"n":{"type":"object","required":["n"],"properties":{"n":{"$ref":"#/$defs/n"}}}},
            "$ref":"#/$defs/n"})",
       R"({"type":"array","items":{"enum":[1,2]},"uniqueItems":true,"minItems":3})",
       R"({"allOf":[{"const":1},{"const":2}]})",
       R"({"type":"string","pattern":"^a$","minLength":2})"}) {
    const auto grammar = compile_schema(schema);
    ASSERT_FALSE(grammar) << schema;
    EXPECT_EQ(grammar.error().code, Errc::kInvalidArgument);
  }
}

TEST(Automaton, AllowsOneSpaceWhereAskedTo) {
  const auto grammar = compile_schema("true", {.spaces = JsonSpaces::kOptional});
  ASSERT_TRUE(grammar);
  for (const std::string_view text : {R"({"a": 1, "b": [1, 2]})", R"({"a":1, "b":[1,2]})"}) {
    EXPECT_TRUE(accepts(**grammar, text)) << text;
  }
  for (const std::string_view text :
       {R"({"a":  1})", R"({"a" :1})", "[1 ]", "[ 1]", "[1,\t2]", "[1,\n2]", " 1"}) {
    EXPECT_FALSE(accepts(**grammar, text)) << text;
  }
}

TEST(Automaton, RefusesToCountTheKeysOfAFinitePattern) {
  const auto grammar = compile_schema(
      R"({"type":"object","propertyNames":{"pattern":"^[ab]{7}$"},"minProperties":129})");
  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().code, Errc::kUnsupported);
  EXPECT_TRUE(compile_schema(
      R"({"type":"object","propertyNames":{"pattern":"^[ab]{7,}$"},"minProperties":129})"));
}

// Both branches stay possible until "x" comes, on every level: 2^n threads without a bound.
TEST(Automaton, AlternativesThatDoubleWithEveryLevelAreBounded) {
  const auto grammar = compile_schema(
      R"({"$defs":{"n":{"anyOf":[{"type":"object","properties":{"c":{"$ref":"#/$defs/n"},
          "x":{"type":"integer"}}},{"type":"object","properties":{"c":{"$ref":"#/$defs/n"},
          "x":{"type":"string"}}}]}},"$ref":"#/$defs/n"})");
  ASSERT_TRUE(grammar);
  std::string text;
  for (int level = 0; level < 40; ++level) {
    text += R"({"c":)";
  }
  text += R"({"x":1})" + std::string(40, '}');
  EXPECT_TRUE(accepts(**grammar, text));
}

}  // namespace
}  // namespace daybreak::grammar
