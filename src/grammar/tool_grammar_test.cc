// SPDX-License-Identifier: Apache-2.0
// The arguments of calls, as ids.

#include "grammar/tool_grammar.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "grammar/test_messages.h"

namespace daybreak::grammar {
namespace {

MessageRules one_tool(std::string_view parameters) {
  return tool_rules({{"f", std::string(parameters), true}});
}

void expect_arguments(std::string_view parameters, const std::vector<Ids>& good,
                      const std::vector<Ids>& bad) {
  SCOPED_TRACE(parameters);
  const MessageRules rules = one_tool(parameters);
  for (const Ids& arguments : good) {
    expect_taken(rules, tools(call("f", 1, arguments)) + end());
  }
  for (const Ids& arguments : bad) {
    expect_refused(rules, tools(call("f", 1, arguments)) + end());
  }
}

// -------------------------------------------------------------------------------------- arguments

TEST(ToolGrammar, ArgumentsComeInTheOrderOfTheSchema) {
  constexpr std::string_view kSchema = R"({"type":"object","properties":{"b":{"type":"string"},
      "a":{"type":"integer"},"c":{"type":"boolean"}},"required":["a"]})";
  const Ids a = argument("a", "number", "1");
  const Ids b = argument("b", "string", "x y");
  const Ids c = argument("c", "boolean", "true");
  expect_arguments(kSchema, {b + a + c, a + c, b + a, a},
                   {a + b, c + a, b + c, b, {}, a + a, b + b + a, a + argument("d", "string", "")});
}

TEST(ToolGrammar, EachTypeHasItsHeaderAndItsSpelling) {
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":"string"}},"required":["v"]})",
      {argument("v", "string", ""), argument("v", "string", "\"quoted\""),
       argument("v", "string", "a\nb\t\\u00"), argument("v", "string", "<|close|>argument<|sep|>"),
       argument("v", "string", "<|open|>call")},
      {argument("v", "number", "1"), argument("v", "null", "null"), argument("w", "string", "a"),
       argument("v", "String", "a")});
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":"integer","minimum":3}},"required":["v"]})",
      {argument("v", "number", "3"), argument("v", "number", "12")},
      {argument("v", "integer", "3"), argument("v", "number", "2"), argument("v", "number", "3.0"),
       argument("v", "number", "\"3\""), argument("v", "number", ""), argument("v", "string", "3"),
       argument("v", "number", "3 ")});
  expect_arguments(R"({"type":"object","properties":{"v":{"type":"number"}},"required":["v"]})",
                   {argument("v", "number", "-0.5"), argument("v", "number", "0")},
                   {argument("v", "number", "-"), argument("v", "number", "1.")});
  expect_arguments(R"({"type":"object","properties":{"v":{"type":"boolean"}},"required":["v"]})",
                   {argument("v", "boolean", "true"), argument("v", "boolean", "false")},
                   {argument("v", "boolean", "null"), argument("v", "boolean", "True")});
  expect_arguments(R"({"type":"object","properties":{"v":{"type":"null"}},"required":["v"]})",
                   {argument("v", "null", "null")}, {argument("v", "null", "")});
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":"array","items":{"type":"integer"}}},"required":["v"]})",
      {argument("v", "array", "[]"), argument("v", "array", "[1,2]"),
       argument("v", "array", "[1, 2]")},
      {argument("v", "array", "[1,  2]"), argument("v", "array", "[1,\n2]"),
       argument("v", "array", "[\"a\"]"), argument("v", "object", "[]")});
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":"object","properties":{"k":{"type":"string"}},"additionalProperties":false}},"required":["v"]})",
      {argument("v", "object", "{}"), argument("v", "object", R"({"k": "a"})"),
       argument("v", "object", R"({"k":"a"})")},
      {argument("v", "object", R"({"k":1})"), argument("v", "object", R"({"l":"a"})"),
       argument("v", "object", R"({"k" :"a"})"), argument("v", "object", "")});
}

TEST(ToolGrammar, UnionsHaveOneWayPerType) {
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":["string","integer","null"]}},"required":["v"]})",
      {argument("v", "string", "1"), argument("v", "number", "1"), argument("v", "null", "null")},
      {argument("v", "number", "a"), argument("v", "boolean", "true"),
       argument("v", "array", "[]")});
  expect_arguments(
      R"({"type":"object","properties":{"v":{"anyOf":[{"type":"string","maxLength":2},{"type":"array","items":{"const":1}}]}},"required":["v"]})",
      {argument("v", "string", "ab"), argument("v", "array", "[1]")},
      {argument("v", "string", "abc"), argument("v", "array", "[2]"),
       argument("v", "string",
                "[1]"
                "]")});
  // No type at all: any of them.
  expect_arguments(R"({"type":"object","properties":{"v":{}},"required":["v"]})",
                   {argument("v", "string", "["), argument("v", "object", "{\"a\":1}"),
                    argument("v", "boolean", "false")},
                   {argument("v", "object", "{"), {}});
}

TEST(ToolGrammar, RawTextIsHeldToTheStringKeywords) {
  expect_arguments(
      R"({"type":"object","properties":{"v":{"enum":["a","a b","\"q\"",1,null]}},"required":["v"]})",
      {argument("v", "string", "a"), argument("v", "string", "a b"),
       argument("v", "string", "\"q\""), argument("v", "number", "1"),
       argument("v", "null", "null")},
      {argument("v", "string", ""), argument("v", "string", "q"), argument("v", "string", "\"a\""),
       argument("v", "number", "2"), argument("v", "string", "1")});
  expect_arguments(R"({"type":"object","properties":{"v":{"const":"x<|sep|>"}},"required":["v"]})",
                   {argument("v", "string", "x<|sep|>")}, {argument("v", "string", "x")});
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":"string","minLength":2,"maxLength":3}},"required":["v"]})",
      {argument("v", "string", "ab"), argument("v", "string", "\xF0\x9F\x98\x80\xC3\xA9x")},
      {argument("v", "string", "a"), argument("v", "string", "\xF0\x9F\x98\x80"),
       argument("v", "string", "abcd")});
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":"string","pattern":"^\\n\"[a-c]+$"}},"required":["v"]})",
      {argument("v", "string", "\n\"abc")},
      {argument("v", "string", "\\n\"abc"), argument("v", "string", "abc")});
  expect_arguments(
      R"({"type":"object","properties":{"v":{"type":"string","format":"date"}},"required":["v"]})",
      {argument("v", "string", "2026-02-28")}, {argument("v", "string", "2026-02-30")});
}

TEST(ToolGrammar, FollowsReferences) {
  expect_arguments(
      R"({"$ref":"#/$defs/root","$defs":{"root":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]},"n":{"enum":["x"]}}})",
      {argument("n", "string", "x"), block(R"({"n":"x"})")},
      {argument("n", "string", "y"), {}, block("{}")});
  expect_arguments(
      R"({"type":"object","properties":{"t":{"$ref":"#/$defs/tree"}},"required":["t"],"$defs":{"tree":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"additionalProperties":false}}})",
      {argument("t", "object", R"({"kids":[{"kids":[]},{}]})")},
      {argument("t", "object", R"({"kids":[{"kid":[]}]})")});
}

// What stands beside a $ref at the root holds too.
TEST(ToolGrammar, KeywordsBesideAReferenceHold) {
  constexpr std::string_view kDefs =
      R"("$defs":{"r":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}}})";
  const Ids a = argument("a", "number", "1");
  const Ids b = argument("b", "number", "1");
  for (const std::string_view beside :
       {R"("minProperties":2)", R"("anyOf":[{"required":["a","b"]}])",
        R"("allOf":[{"required":["a","b"]}])",
        R"("dependentRequired":{"a":["b"],"b":["a"]},"minProperties":1)", R"("required":["a","b"])",
        R"("const":{"a":1,"b":1})", R"("enum":[{"a":1,"b":1}])",
        R"("not":{"anyOf":[{"not":{"required":["a"]}},{"not":{"required":["b"]}}]})",
        R"("if":{"required":["a"]},"then":{"required":["b"]},"else":false)"}) {
    SCOPED_TRACE(beside);
    expect_arguments("{\"$ref\":\"#/$defs/r\"," + std::string(beside) + "," + std::string(kDefs),
                     {block(R"({"a":1,"b":1})")}, {a, b, {}, block(R"({"a":1})"), block("{}")});
  }
  // At any hop.
  expect_arguments(
      R"({"$ref":"#/$defs/s","$defs":{"s":{"$ref":"#/$defs/r","minProperties":1},"r":{"type":"object","properties":{"a":{"type":"integer"}}}}})",
      {block(R"({"a":1})")}, {{}, block("{}")});
}

TEST(ToolGrammar, ConditionsAcrossMembersNeedTheBlock) {
  const Ids a = argument("a", "number", "1");
  for (
      const std::string_view schema :
      {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependentRequired":{"a":["b"]}})",
       R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"anyOf":[{"required":["b"]},{"maxProperties":0}]})",
       R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"not":{"required":["a"],"maxProperties":1}})"}) {
    expect_arguments(schema, {block("{}"), block(R"({"a":1,"b":2})")},
                     {a, argument("b", "number", "2"), block(R"({"a":1})")});
  }
}

TEST(ToolGrammar, RequiredNamesWithoutAPropertyAreAsked) {
  expect_arguments(
      R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["z","a"],"additionalProperties":{"type":"boolean"}})",
      {argument("a", "number", "1") + argument("z", "boolean", "true"),
       block(R"({"z":true,"a":1})")},
      {argument("a", "number", "1"), argument("a", "number", "1") + argument("z", "string", "x"),
       block(R"({"a":1})")});
  // Given twice, asked once.
  expect_arguments(R"({"type":"object","required":["z","z"]})",
                   {argument("z", "string", "x"), block(R"({"z":1})")},
                   {{}, argument("z", "string", "x") + argument("z", "string", "x")});
  expect_arguments(R"({"type":"object","required":["z"]})", {argument("z", "string", "x")},
                   {{}, argument("y", "string", "x")});
}

TEST(ToolGrammar, TheBlockIsTheWholeObject) {
  constexpr std::string_view kSchema = R"({"type":"object","properties":{"a":{"type":"integer"},
      "b":{"type":"string"}},"required":["a"],"additionalProperties":false})";
  expect_arguments(
      kSchema, {block(R"({"a":1})"), block(R"({"b":"x","a":1})"), block(R"({"a": 1, "b": "x"})")},
      {block("{}"), block(R"({"a":1,"c":2})"), block(R"({"a":"1"})"), block("[1]"), block(""),
       block(R"({"a":1}})"), block(R"({"a":1})") + block(R"({"a":1})"),
       argument("a", "number", "1") + block(R"({"a":1})"), block("{\n\"a\":1}")});
}

TEST(ToolGrammar, ToolsWithoutParametersTakeNoneOrABlock) {
  expect_arguments("", {{}, block("{}"), block(R"({"x":1})")},
                   {block("[]"), argument("x", "string", "y")});
  expect_arguments(R"({"type":"object","properties":{}})", {{}, block("{}")}, {block("1")});
  expect_arguments("true", {{}, block("{}")}, {block("1")});
}

TEST(ToolGrammar, WithoutStrictOnlyTheEnvelopeHolds) {
  const MessageRules rules =
      tool_rules({{"f", R"({"properties":{"a":{"const":1}},"required":["a"]})", false}});
  for (const Ids& arguments :
       {Ids{}, argument("a", "string", "2"), argument("z", "number", "not one"),
        argument("a", "string", "x") + argument("a", "null", ""), block("not json")}) {
    expect_taken(rules, tools(call("f", 1, arguments)) + end());
  }
  for (const Ids& arguments :
       {argument("a", "text", "x"), argument("", "string", "x"), argument("a<", "string", "x"),
        t("loose"), argument("a", "string", "x") + block("{}")}) {
    expect_refused(rules, tools(call("f", 1, arguments)) + end());
  }
  expect_refused(rules, tools(call("g", 1, {})) + end());
  // What is not enforced need not be a schema.
  expect_taken(tool_rules({{"f", "no schema", false}}), tools(call("f", 1, {})) + end());
}

TEST(ToolGrammar, EscapesAttributes) {
  EXPECT_EQ(escape_attribute(R"(a&b"c<d>'e&amp;)"), "a&amp;b&quot;c<d>'e&amp;amp;");
  const MessageRules rules = tool_rules(
      {{"f", R"({"type":"object","properties":{"a\"&b":{"type":"string"}},"required":["a\"&b"]})",
        true}});
  expect_taken(rules, tools(call("f", 1, argument("a&quot;&amp;b", "string", "x"))) + end());
  expect_refused(rules, tools(call("f", 1, argument("a\"&b", "string", "x"))) + end());
  expect_taken(rules, tools(call("f", 1, block(R"({"a\"&b":"x"})"))) + end());
}

TEST(ToolGrammar, PropertiesThatCannotBeAreLeftOut) {
  expect_arguments(
      R"({"type":"object","properties":{"a":false,"b":{"type":"integer","minimum":2,"maximum":1},"c":{"const":1}}})",
      {{}, argument("c", "number", "1"), block(R"({"c":1})")},
      {argument("a", "string", ""), argument("b", "number", "1"), block(R"({"a":1})")});
}

}  // namespace
}  // namespace daybreak::grammar
