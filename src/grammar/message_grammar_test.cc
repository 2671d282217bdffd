// SPDX-License-Identifier: Apache-2.0
// Whole messages, as ids: what conforms is taken to its end, what does not is stopped.
//
// Long because: messages of one kind after the other, all told in the same few words.

#include "grammar/message_grammar.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "grammar/test_messages.h"

namespace daybreak::grammar {
namespace {

using Body = MessageRules::Body;
using Start = MessageRules::Start;
using Tools = MessageRules::Tools;

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

TEST(MessageGrammar, WithoutAMessageTheBodyIsAllThereIs) {
  const MessageRules bare = body_rules(Body::kRegex, "a+b", Start::kBare);
  const auto grammar = compile(bare, test_tokens().markers);
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(accepts(**grammar, "aab"));
  EXPECT_FALSE(accepts(**grammar, "aa"));
  EXPECT_FALSE(accepts(**grammar, "aabb"));
}

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
