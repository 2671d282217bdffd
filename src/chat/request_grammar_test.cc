// SPDX-License-Identifier: Apache-2.0
#include "chat/request_grammar.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::chat {
namespace {

using grammar::MessageRules;

constexpr const char* kSchemaFormat =
    R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"z":1,"a":2}}})";
constexpr const char* kTools =
    R"("tools":[{"type":"function","function":{"name":"f","parameters":{"z":1e2, "a":{}}}},
                {"type":"function","function":{"name":"g","strict":false,"parameters":{"x":1}}},
                {"type":"function","function":{"name":"h","strict":true}}])";

RequestGrammar grammar_of(const std::string& rest,
                          const std::string& messages = R"({"role":"user","content":"hi"})") {
  const auto request = parse_chat_request("{\"messages\":[" + messages + "]" +
                                          (rest.empty() ? "" : "," + rest) + "}");
  EXPECT_TRUE(request) << rest << "\n" << (request ? "" : request.error().message);
  const auto prompt = render_segments(*request);
  EXPECT_TRUE(prompt);
  return request_grammar(*request, prompt->initial);
}

TEST(RequestGrammar, StartsInTheChannelThePromptLeavesOpen) {
  EXPECT_EQ(grammar_of("").rules.start, MessageRules::Start::kThink);
  EXPECT_EQ(grammar_of(R"("thinking":{"type":"disabled"})").rules.start,
            MessageRules::Start::kResponse);
  EXPECT_EQ(grammar_of(R"("add_generation_prompt":false)").rules.start, MessageRules::Start::kNone);
}

TEST(RequestGrammar, APlainRequestHasPlainRules) {
  const RequestGrammar plain = grammar_of("");
  EXPECT_EQ(plain.rules, MessageRules{});
  EXPECT_EQ(grammar_of(std::string(kTools) + R"(,"tool_choice":"none")").rules, MessageRules{});
}

TEST(RequestGrammar, ToolsKeepTheClientsSchemaAndItsStrictness) {
  const RequestGrammar got = grammar_of(kTools);
  EXPECT_EQ(got.rules.use, MessageRules::Tools::kOptional);
  EXPECT_TRUE(got.rules.parallel);
  ASSERT_EQ(got.rules.tools.size(), 3U);
  EXPECT_EQ(got.rules.tools[0],
            (grammar::ToolRule{.name = "f", .parameters = R"({"z":1e2, "a":{}})", .strict = true}));
  EXPECT_EQ(got.rules.tools[1],
            (grammar::ToolRule{.name = "g", .parameters = R"({"x":1})", .strict = false}));
  EXPECT_EQ(got.rules.tools[2], (grammar::ToolRule{.name = "h", .parameters = "", .strict = true}));
}

TEST(RequestGrammar, ToolChoiceDecidesWhetherAndWhich) {
  const std::string tools = kTools;
  EXPECT_EQ(grammar_of(tools + R"(,"tool_choice":"required")").rules.use,
            MessageRules::Tools::kRequired);
  EXPECT_EQ(grammar_of(tools + R"(,"tool_choice":"required")").rules.tools.size(), 3U);
  const RequestGrammar named =
      grammar_of(tools + R"(,"tool_choice":{"type":"function","function":{"name":"g"}})");
  EXPECT_EQ(named.rules.use, MessageRules::Tools::kRequired);
  ASSERT_EQ(named.rules.tools.size(), 1U);
  EXPECT_EQ(named.rules.tools[0].name, "g");
  EXPECT_EQ(named.tool_fields, (std::vector<std::string>{"tools[1].function"}));
  EXPECT_FALSE(grammar_of(tools + R"(,"parallel_tool_calls":false)").rules.parallel);
}

TEST(RequestGrammar, ToolsOfSystemMessagesCountAndKeepTheirPlace) {
  const RequestGrammar got = grammar_of(std::string(kTools) + R"(,"tool_choice":"required")",
                                        R"({"role":"user","content":"hi"},
         {"role":"system","tools":[{"type":"function","function":{"name":"late"}}]})");
  ASSERT_EQ(got.rules.tools.size(), 4U);
  EXPECT_EQ(got.rules.tools[3].name, "late");
  EXPECT_EQ(got.tool_fields[3], "messages[1].tools[0].function");
}

TEST(RequestGrammar, ContentAndOptionalToolsAreHeldTogether) {
  const RequestGrammar got = grammar_of(std::string(kTools) + "," + kSchemaFormat);
  EXPECT_EQ(got.rules.use, MessageRules::Tools::kOptional);
  EXPECT_EQ(got.rules.body, MessageRules::Body::kSchema);
  EXPECT_EQ(got.rules.body_source, R"({"z":1,"a":2})");
  const RequestGrammar forced =
      grammar_of(std::string(kTools) + R"(,"tool_choice":"required",)" + kSchemaFormat);
  EXPECT_EQ(forced.rules.body, MessageRules::Body::kText);
  EXPECT_EQ(forced.rules.body_source, "");
}

TEST(RequestGrammar, EveryFormBecomesABody) {
  using Body = MessageRules::Body;
  EXPECT_EQ(grammar_of(R"("response_format":{"type":"json_object"})").rules.body,
            Body::kJsonObject);
  EXPECT_EQ(grammar_of(R"("guided_regex":"a")").rules.body, Body::kRegex);
  EXPECT_EQ(grammar_of(R"("guided_regex":"a")").rules.body_source, "a");
  EXPECT_EQ(grammar_of(R"("guided_grammar":"root ::= \"a\"")").rules.body, Body::kGrammar);
  EXPECT_EQ(grammar_of(R"("guided_choice":["a","b"])").rules.body, Body::kChoice);
  EXPECT_EQ(grammar_of(R"("guided_choice":["a","b"])").rules.choices,
            (std::vector<std::string>{"a", "b"}));
}

TEST(RequestGrammar, ContentThatHasBegunIsPartOfTheRules) {
  const std::string off = R"("thinking":{"type":"disabled"})";
  const std::string begun =
      R"({"role":"user","content":"hi"},{"role":"assistant","partial":true,"content":[{"type":"text","text":"{\"z"},{"type":"text","text":"\":"}]})";
  EXPECT_EQ(grammar_of(off + "," + kSchemaFormat, begun).rules.partial, R"({"z":)");
  EXPECT_EQ(grammar_of(kSchemaFormat, begun).rules.partial, R"({"z":)");
  EXPECT_EQ(grammar_of(off, begun).rules.partial, "") << "free text: any beginning will do";
  const std::string thinking =
      R"({"role":"user","content":"hi"},{"role":"assistant","partial":true,"reasoning_content":"{"})";
  const RequestGrammar think = grammar_of(kSchemaFormat, thinking);
  EXPECT_EQ(think.rules.start, MessageRules::Start::kThink);
  EXPECT_EQ(think.rules.partial, "");
}

TEST(RequestGrammar, ErrorsNameTheRequestsFieldsAndAre400) {
  const RequestGrammar got = grammar_of(R"("guided_json":{})",
                                        R"({"role":"user","content":"hi"},
         {"role":"system","tools":[{"type":"function","function":{"name":"late"}}]})");
  const auto told = [&](Errc code, const std::string& message) {
    return compile_error({code, message}, got);
  };
  EXPECT_EQ(told(Errc::kTooLarge, "tools[0].function.parameters: expected fewer steps"),
            (Error{Errc::kInvalidArgument,
                   "messages[1].tools[0].function.parameters: tool 'late': expected fewer steps"}));
  EXPECT_EQ(told(Errc::kInvalidArgument, "tools[0]: bad").message,
            "messages[1].tools[0].function: tool 'late': bad");
  EXPECT_EQ(told(Errc::kUnsupported, "response_format.json_schema.schema: #/a: 'x'"),
            (Error{Errc::kInvalidArgument, "guided_json: #/a: 'x'"}));
  EXPECT_EQ(told(Errc::kInvalidArgument, "line 1: bad").message, "guided_json: line 1: bad");
  EXPECT_EQ(told(Errc::kInvalidArgument, "guided_json: bad").message, "guided_json: bad");
  for (const char* odd : {"tools[9].x: bad", "tools[: bad", "tools[18446744073709551616]: bad"}) {
    EXPECT_EQ(told(Errc::kInvalidArgument, odd).message, "guided_json: " + std::string(odd));
  }
  EXPECT_EQ(told(Errc::kResourceLimit, "queue full"), (Error{Errc::kResourceLimit, "queue full"}));
}

}  // namespace
}  // namespace daybreak::chat
