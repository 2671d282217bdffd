// SPDX-License-Identifier: Apache-2.0
// Whole messages, as ids: what conforms is taken to its end, what does not is stopped.
//
// Long because: messages of one kind after the other, all told in the same few words.

#include "grammar/message_grammar.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/test_tokens.h"
#include "grammar/tool_grammar.h"

namespace daybreak::grammar {
namespace {

using Body = MessageRules::Body;
using Start = MessageRules::Start;
using Tools = MessageRules::Tools;
using Ids = std::vector<TokenId>;

Ids operator+(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Text, never markers, whatever it looks like.
Ids t(std::string_view text) { return test_tokens().ids(text); }
Ids open(std::string_view header) {
  return Ids{test_tokens().markers.open} + t(header) + Ids{test_tokens().markers.sep};
}
Ids close(std::string_view name) {
  return Ids{test_tokens().markers.close} + t(name) + Ids{test_tokens().markers.sep};
}
Ids end() { return close("message") + Ids{test_tokens().markers.end_of_msg}; }

Ids thought() { return t("let me see") + close("think"); }
Ids response(const Ids& body) { return open("response") + body + close("response"); }
Ids argument(std::string_view key, std::string_view type, std::string_view value) {
  return open("argument key=\"" + std::string(key) + "\" type=\"" + std::string(type) + "\"") +
         t(value) + close("argument");
}
Ids block(std::string_view text) { return open("json type=\"object\"") + t(text) + close("json"); }
Ids call(std::string_view tool, int index, const Ids& arguments) {
  return open("call tool=\"" + std::string(tool) + "\" index=\"" + std::to_string(index) + "\"") +
         arguments + close("call");
}
Ids tools(const Ids& calls) { return open("tools") + calls + close("tools"); }

std::shared_ptr<const Grammar> grammar_of(const MessageRules& rules) {
  auto grammar = compile(rules, test_tokens().markers);
  EXPECT_TRUE(grammar) << (grammar ? "" : grammar.error().message);
  return grammar ? *std::move(grammar) : nullptr;
}

// Feeds ids one by one, holding the mask and complete() to every one of them. Returns how many were
// taken; all of them and one more if the message is then complete.
std::size_t taken(const std::shared_ptr<const Grammar>& grammar, const Ids& ids) {
  const std::array<TokenId, 1> stop{test_tokens().eos};
  Matcher matcher(grammar, test_tokens().index, stop);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool allowed = mask_has(matcher.mask(), ids[i]);
    const bool accepted = matcher.accept(ids[i]);
    EXPECT_EQ(allowed, accepted) << "id " << ids[i] << " at " << i;
    if (!accepted) {
      return i;
    }
    EXPECT_EQ(mask_has(matcher.mask(), stop[0]), matcher.complete());
    // Nothing but the end is possible after end_of_msg, and nothing ends before.
    EXPECT_EQ(matcher.complete(), ids[i] == test_tokens().markers.end_of_msg);
    EXPECT_EQ(matcher.finished(), matcher.complete());
  }
  return ids.size() + (matcher.complete() ? 1 : 0);
}

std::string spelled(const Ids& ids) { return test_tokens().tokenizer->decode(ids); }

void expect_taken(const MessageRules& rules, const Ids& ids) {
  const auto grammar = grammar_of(rules);
  ASSERT_NE(grammar, nullptr);
  const std::size_t count = taken(grammar, ids);
  EXPECT_EQ(count, ids.size() + 1)
      << spelled(ids) << "\nstopped after "
      << spelled(
             {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()))});
}

void expect_refused(const MessageRules& rules, const Ids& ids) {
  const auto grammar = grammar_of(rules);
  ASSERT_NE(grammar, nullptr);
  EXPECT_LE(taken(grammar, ids), ids.size()) << spelled(ids);
}

MessageRules body_rules(Body body, std::string source = {}, Start start = Start::kResponse) {
  MessageRules rules;
  rules.start = start;
  rules.body = body;
  rules.body_source = std::move(source);
  return rules;
}

void expect_bodies(const MessageRules& rules, const std::vector<std::string_view>& good,
                   const std::vector<std::string_view>& bad) {
  for (const std::string_view text : good) {
    expect_taken(rules, t(text) + close("response") + end());
  }
  for (const std::string_view text : bad) {
    expect_refused(rules, t(text) + close("response") + end());
  }
}

MessageRules tool_rules(std::vector<ToolRule> all, Tools use = Tools::kRequired,
                        Start start = Start::kNone) {
  MessageRules rules;
  rules.start = start;
  rules.use = use;
  rules.tools = std::move(all);
  return rules;
}

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

Errc error_of(const MessageRules& rules, std::string_view message) {
  const auto grammar = compile(rules, test_tokens().markers);
  EXPECT_FALSE(grammar);
  if (grammar) {
    return Errc{};
  }
  EXPECT_NE(grammar.error().message.find(message), std::string::npos) << grammar.error().message;
  return grammar.error().code;
}

// ------------------------------------------------------------------------------------ the channels

TEST(MessageGrammar, BeginsInTheChannelThatIsOpen) {
  const MessageRules think = body_rules(Body::kText, "", Start::kThink);
  expect_taken(think, thought() + response(t("hi")) + end());
  expect_taken(think, close("think") + response({}) + end());
  expect_refused(think, response(t("hi")) + end());
  expect_refused(think, thought() + t("hi") + close("response") + end());
  expect_refused(think, thought() + end());

  const MessageRules inside = body_rules(Body::kText);
  expect_taken(inside, t("hi") + close("response") + end());
  expect_refused(inside, response(t("hi")) + end());
  expect_refused(inside, thought() + response(t("hi")) + end());

  const MessageRules none = body_rules(Body::kText, "", Start::kNone);
  expect_taken(none, response(t("hi")) + end());
  expect_taken(none, open("think") + thought() + response(t("hi")) + end());
  expect_refused(none, t("hi") + close("response") + end());
  expect_refused(none, thought() + response(t("hi")) + end());
  expect_refused(none,
                 open("think") + thought() + open("think") + thought() + response({}) + end());
}

TEST(MessageGrammar, EndsOnceAndOnlyAtTheEnd) {
  const TokenId eom = test_tokens().markers.end_of_msg;
  const MessageRules rules = body_rules(Body::kText, "", Start::kThink);
  for (const Ids& before :
       {Ids{}, t("a"), thought(), thought() + open("response"),
        thought() + open("response") + t("hi"), thought() + response(t("hi")),
        thought() + response(t("hi")) + Ids{test_tokens().markers.close} + t("message")}) {
    expect_refused(rules, before + Ids{eom});
    expect_refused(rules, before + Ids{test_tokens().eos});
  }
  const auto whole = thought() + response(t("hi")) + end();
  expect_refused(rules, whole + Ids{eom});
  expect_refused(rules, whole + t("more"));
  expect_refused(rules, thought() + response(t("hi")) + response(t("hi")) + end());
}

TEST(MessageGrammar, TextThatLooksLikeMarkersIsText) {
  const MessageRules rules = body_rules(Body::kText, "", Start::kThink);
  expect_taken(rules, t("<|close|>think<|sep|> old <|open|>response<|sep|>") + close("think") +
                          response(t("<|close|>response<|sep|><|end_of_msg|>")) + end());
  // Only the ids count: the text of a marker does not close.
  expect_refused(rules, t("<|close|>think<|sep|>") + response(t("hi")) + end());
  // Markers within text are no text.
  for (const TokenId marker : {test_tokens().markers.open, test_tokens().markers.sep}) {
    expect_refused(rules, thought() + response(t("a") + Ids{marker} + t("b")) + end());
  }
  expect_refused(rules, t("a") + close("thinking"));
  // Text is UTF-8.
  expect_refused(rules, Ids{0xFF});
  expect_refused(rules, Ids{0xC3} + close("think"));
  expect_taken(rules, Ids{0xC3, 0xA9} + close("think") + response({}) + end());
}

TEST(MessageGrammar, BindsTheBodyFromTheCloseOfThinkOn) {
  // Ids of one draft: those after the close are bound already, one by one.
  MessageRules rules = body_rules(Body::kSchema, R"({"const":7})", Start::kThink);
  expect_taken(rules, t("{[\"7 or 8? 8") + close("think") + response(t("7")) + end());
  expect_refused(rules, t("8") + close("think") + response(t("8")) + end());
  expect_refused(rules, close("think") + response(t(" 7")) + end());
  expect_refused(rules, close("think") + response({}) + end());
  rules.start = Start::kNone;
  expect_taken(rules, open("think") + t("8") + close("think") + response(t("7")) + end());
  expect_refused(rules, open("think") + t("8") + close("think") + response(t("8")) + end());
  expect_taken(rules, response(t("7")) + end());
}

// -------------------------------------------------------------------------------------- the bodies

TEST(MessageGrammar, HoldsTheBodyToItsForm) {
  expect_bodies(body_rules(Body::kText), {"", "hi", "{", "\n\t\xC3\xA9"}, {});
  expect_bodies(body_rules(Body::kJsonObject), {"{}", R"({"a":[1,{"b":null}]})"},
                {"", "[]", "1", "null", "{", "{} ", " {}", "{}{}", "{\n}"});
  expect_bodies(body_rules(Body::kSchema, R"({"type":"object","properties":{"a":{"type":"integer"}},
                           "required":["a"],"additionalProperties":false})"),
                {R"({"a":1})"}, {"{}", R"({"a":1.0})", R"({"a":"1"})", R"({"b":1})", "1"});
  expect_bodies(body_rules(Body::kRegex, "[a-c]+\\d?"), {"a", "abc1", "c9"},
                {"", "1", "ab12", "d", "a\n"});
  MessageRules choice = body_rules(Body::kChoice);
  choice.choices = {"yes", "no", "yes, please", "", "\xC3\xA9"};
  expect_bodies(choice, {"yes", "no", "yes, please", "", "\xC3\xA9"}, {"y", "yes,", "nono", "Yes"});
  expect_bodies(body_rules(Body::kGrammar, "root ::= \"a\" root \"b\" | \"ab\" | [0-9]{2,3}\n"),
                {"ab", "aabb", "aaabbb", "12", "123"}, {"", "aab", "abb", "1", "1234", "ba"});
  expect_bodies(body_rules(Body::kGrammar, "start: \"x\" /[a-c]+/ \"y\"?\n"), {"xa", "xabcy"},
                {"", "x", "xy", "xad"});
}

TEST(MessageGrammar, ToolsGoWithEveryBody) {
  MessageRules rules = body_rules(Body::kSchema, R"({"const":7})", Start::kNone);
  rules.use = Tools::kOptional;
  rules.tools = {{"f", "", true}};
  expect_taken(rules, response(t("7")) + end());
  expect_taken(rules, response(t("7")) + tools(call("f", 1, {})) + end());
  expect_taken(rules, response({}) + tools(call("f", 1, {})) + end());  // beside calls often empty
  expect_taken(rules, tools(call("f", 1, {})) + end());
  expect_refused(rules, response({}) + end());
  expect_refused(rules, response(t("8")) + tools(call("f", 1, {})) + end());
  rules.use = Tools::kRequired;
  expect_refused(rules, response(t("7")) + end());
  expect_taken(rules, response(t("7")) + tools(call("f", 1, {})) + end());
  rules.use = Tools::kNone;
  expect_taken(rules, response(t("7")) + end());
  expect_refused(rules, response(t("7")) + tools(call("f", 1, {})) + end());
  rules.use = Tools::kRequired;
  rules.start = Start::kResponse;
  expect_taken(rules, close("response") + tools(call("f", 1, {})) + end());
  expect_refused(rules, t("7") + close("response") + end());
  rules.start = Start::kThink;
  expect_taken(rules, thought() + tools(call("f", 1, {})) + end());
  expect_refused(rules, tools(call("f", 1, {})) + end());
}

TEST(MessageGrammar, SaysWhatConstrains) {
  MessageRules rules;
  EXPECT_FALSE(rules.constrains());
  rules.use = Tools::kOptional;
  EXPECT_FALSE(rules.constrains());
  rules.tools = {{"f", "", true}};
  EXPECT_TRUE(rules.constrains());
  rules.use = Tools::kNone;
  EXPECT_FALSE(rules.constrains());
  rules.body = Body::kJsonObject;
  EXPECT_TRUE(rules.constrains());
}

// ---------------------------------------------------------------------------------------- partial

TEST(MessageGrammar, GoesOnFromAPartialBody) {
  MessageRules rules = body_rules(Body::kSchema, R"({"enum":["abc","abd"]})");
  rules.partial = "\"ab";
  expect_taken(rules, t("c\"") + close("response") + end());
  expect_refused(rules, t("\"abc\"") + close("response") + end());
  expect_refused(rules, t("e"));
  rules.partial = "\"abc\"";
  expect_taken(rules, close("response") + end());
  rules.partial = "\"ax";
  EXPECT_EQ(error_of(rules, "partial message"), Errc::kInvalidArgument);
  rules.partial = "\"abc\" ";
  EXPECT_EQ(error_of(rules, "partial message"), Errc::kInvalidArgument);
  // Cut within a character.
  rules.body = Body::kChoice;
  rules.choices = {"\xC3\xA9"};
  rules.partial = "\xC3";
  expect_taken(rules, Ids{0xA9} + close("response") + end());
  // In the think channel everything is text.
  rules.start = Start::kThink;
  rules.partial = "anything";
  expect_taken(rules, thought() + response(t("\xC3\xA9")) + end());
}

// ------------------------------------------------------------------------------------------ calls

TEST(MessageGrammar, NumbersAndBoundsCalls) {
  const MessageRules rules = tool_rules({{"f", "", true}, {"g", "", true}});
  const auto calls = [](const Ids& first, const Ids& second) {
    return tools(first + second) + end();
  };
  expect_taken(rules, calls(call("f", 1, {}), call("g", 2, {})));
  expect_taken(rules, calls(call("g", 1, {}), call("g", 9999, {})));
  expect_refused(rules, calls(call("f", 0, {}), {}));
  expect_refused(rules, calls(call("f", 12345, {}), {}));
  expect_refused(rules, calls({}, {}));
  expect_refused(rules, calls(call("h", 1, {}), {}));
  expect_refused(rules, calls(call("ff", 1, {}), {}));
  expect_refused(rules, calls(call("f", 1, {}), t("text")));
  expect_refused(rules, tools(call("f", 1, {})) + tools(call("f", 2, {})) + end());

  MessageRules single = rules;
  single.parallel = false;
  expect_taken(single, tools(call("g", 1, {})) + end());
  expect_refused(single, calls(call("f", 1, {}), call("g", 2, {})));
  // A named choice: only that one is given.
  MessageRules named = rules;
  named.tools = {{"g", "", true}};
  expect_taken(named, tools(call("g", 1, {})) + end());
  expect_refused(named, tools(call("f", 1, {})) + end());
}

TEST(MessageGrammar, HoldsEveryCallToItsOwnSchema) {
  const MessageRules rules = tool_rules(
      {{"f", R"({"properties":{"u":{"enum":["c","f"]}},"required":["u"],"type":"object"})", true},
       {"g", R"({"properties":{"n":{"type":"integer"}},"type":"object"})", true}});
  const Ids good = call("f", 1, argument("u", "string", "c"));
  expect_taken(rules, tools(good + call("f", 2, argument("u", "string", "f"))) + end());
  expect_taken(rules, tools(good + call("g", 2, argument("n", "number", "5"))) + end());
  expect_refused(rules, tools(good + call("f", 2, argument("u", "string", "x"))) + end());
  expect_refused(rules, tools(good + call("g", 2, argument("u", "string", "c"))) + end());
  expect_refused(rules, tools(good + call("f", 2, block(R"({"u":"x"})"))) + end());
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

// ----------------------------------------------------------------------------------------- errors

TEST(MessageGrammar, ErrorsNameTheToolAndTheBody) {
  const ToolRule good{"f", "", true};
  for (
      const auto& [schema, code] :
      {std::pair(R"({"type":"array"})", Errc::kInvalidArgument),
       std::pair("false", Errc::kInvalidArgument), std::pair("1", Errc::kInvalidArgument),
       std::pair("{", Errc::kInvalidArgument),
       std::pair(R"({"type":"objekt"})", Errc::kInvalidArgument),
       std::pair(R"({"type":"object","required":["a"],"properties":{"a":false}})",
                 Errc::kInvalidArgument),
       std::pair(R"({"$ref":"http://other.example/x"})", Errc::kInvalidArgument),
       std::pair(
           R"({"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"maxItems":9}}})",
           Errc::kUnsupported)}) {
    const MessageRules rules = tool_rules({good, {"g", schema, true}});
    SCOPED_TRACE(schema);
    if (code == Errc::kUnsupported) {
      EXPECT_EQ(error_of(rules, ""), code);
    } else {
      EXPECT_EQ(error_of(rules, "tools[1].function.parameters"), code);
    }
  }
  EXPECT_EQ(error_of(body_rules(Body::kSchema, "false"), "schema: "), Errc::kInvalidArgument);
  EXPECT_EQ(error_of(body_rules(Body::kRegex, "a("), ""), Errc::kInvalidArgument);
  EXPECT_EQ(error_of(body_rules(Body::kRegex, "[^\\s\\S]"), "regex"), Errc::kInvalidArgument);
  EXPECT_EQ(error_of(body_rules(Body::kChoice), "choice"), Errc::kInvalidArgument);
  MessageRules bad = body_rules(Body::kChoice);
  bad.choices = {"a", "\xFF"};
  EXPECT_EQ(error_of(bad, "choice[1]"), Errc::kInvalidArgument);
  EXPECT_EQ(error_of(body_rules(Body::kGrammar, "root ::= nowhere\n"), "nowhere"),
            Errc::kInvalidArgument);
}

TEST(MessageGrammar, CompilationHasABudget) {
  const auto grammar = compile(body_rules(Body::kSchema, R"({"type":"string","maxLength":3})"),
                               test_tokens().markers, {.steps = 20});
  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::grammar
