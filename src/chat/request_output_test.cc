// SPDX-License-Identifier: Apache-2.0
#include "chat/request_output.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace daybreak::chat {
namespace {

using Kind = OutputForm::Kind;

std::string with(const std::string& rest) {
  return R"({"messages":[{"role":"user","content":"hi"}],)" + rest + "}";
}
const std::string kTools = R"("tools":[{"type":"function","function":{"name":"f"}}])";
const std::string kSchemaFormat =
    R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{ "b":1e2,"a":1}}})";

OutputForm form(const std::string& rest) {
  auto request = parse_chat_request(with(rest));
  EXPECT_TRUE(request) << rest << "\n" << (request ? "" : request.error().message);
  EXPECT_TRUE(!request || request->ignored_fields.empty()) << rest;
  return request ? request->output : OutputForm{};
}

std::string refused(const std::string& rest, Errc code = Errc::kInvalidArgument) {
  const auto request = parse_chat_request(with(rest));
  if (request) {
    return "accepted";
  }
  EXPECT_EQ(request.error().code, code);
  return request.error().message;
}

TEST(OutputForm, EachSpellingMeansOneForm) {
  struct Case {
    std::string json;
    Kind kind;
    std::string source;
    std::string field;
  };
  const std::array cases = {
      Case{R"("n":1)", Kind::kText, "", ""},
      Case{R"("response_format":{"type":"text"})", Kind::kText, "", ""},
      Case{R"("response_format":{"type":"json_object"})", Kind::kJsonObject, "", "response_format"},
      Case{kSchemaFormat, Kind::kSchema, R"({ "b":1e2,"a":1})",
           "response_format.json_schema.schema"},
      Case{R"("guided_json":{ "z":1,"a":2.50})", Kind::kSchema, R"({ "z":1,"a":2.50})",
           "guided_json"},
      Case{R"("guided_json":"{\"z\": 1}")", Kind::kSchema, R"({"z": 1})", "guided_json"},
      Case{R"("guided_regex":"a+")", Kind::kRegex, "a+", "guided_regex"},
      Case{R"("guided_grammar":"root ::= \"a\"")", Kind::kGrammar, "root ::= \"a\"",
           "guided_grammar"},
      Case{R"("guided_json_object":true)", Kind::kJsonObject, "", "guided_json_object"},
      Case{R"("guided_json":null,"guided_regex":null,"structured_outputs":null)", Kind::kText, "",
           ""},
      Case{R"("structured_outputs":{"json":{"a":1}})", Kind::kSchema, R"({"a":1})",
           "structured_outputs.json"},
      Case{R"("structured_outputs":{"regex":"a+","json":null,"json_object":false,
           "disable_fallback":true,"disable_any_whitespace":true,"disable_additional_properties":false,
           "whitespace_pattern":null,"structural_tag":null})",
           Kind::kRegex, "a+", "structured_outputs.regex"},
      Case{R"("structured_outputs":{"grammar":"start: \"a\""})", Kind::kGrammar, "start: \"a\"",
           "structured_outputs.grammar"},
      Case{R"("structured_outputs":{"json_object":true})", Kind::kJsonObject, "",
           "structured_outputs.json_object"},
      Case{R"("response_format":{"type":"text"},"guided_regex":"a")", Kind::kRegex, "a",
           "guided_regex"},
  };
  for (const Case& c : cases) {
    const OutputForm got = form(c.json);
    EXPECT_EQ(got.kind, c.kind) << c.json;
    EXPECT_EQ(got.source, c.source) << c.json;
    EXPECT_EQ(got.field, c.field) << c.json;
  }
  EXPECT_EQ(form(R"("guided_choice":["a","","b\n"])").choices,
            (std::vector<std::string>{"a", "", "b\n"}));
  EXPECT_EQ(form(R"("structured_outputs":{"choice":["x"]})").kind, Kind::kChoice);
}

TEST(OutputForm, ASchemaThatIsNotStrictMeansAnyJsonObject) {
  const OutputForm got = form(
      R"("response_format":{"type":"json_schema","json_schema":{"name":"n","strict":false,"schema":{"a":1}}})");
  EXPECT_EQ(got.kind, Kind::kJsonObject);
  EXPECT_EQ(got.source, "");
  EXPECT_EQ(
      form(
          R"("response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{}}})")
          .kind,
      Kind::kSchema);
}

TEST(OutputForm, RefusesNamingTheFields) {
  struct Case {
    std::string json;
    const char* message;
  };
  const std::array cases = {
      Case{R"("guided_json":{},"guided_regex":"a")",
           "guided_regex: cannot be combined with guided_json: expected one form of the answer"},
      Case{R"("guided_choice":["a"],"response_format":{"type":"json_object"})",
           "guided_choice: cannot be combined with response_format: expected one form of the "
           "answer"},
      Case{kSchemaFormat + R"(,"structured_outputs":{"regex":"a"})",
           "structured_outputs.regex: cannot be combined with response_format.json_schema.schema: "
           "expected one form of the answer"},
      Case{R"("guided_grammar":"a","structured_outputs":{"json":{}})",
           "guided_grammar: cannot be combined with structured_outputs.json: expected one form of "
           "the answer"},
      Case{R"("structured_outputs":{"json":{},"json_object":true})",
           "structured_outputs.json_object: cannot be combined with structured_outputs.json: "
           "expected one form of the answer"},
      Case{R"("structured_outputs":{})",
           "structured_outputs: expected one of \"json\", \"regex\", \"choice\", \"grammar\" and "
           "\"json_object\", found none"},
      Case{R"("structured_outputs":{"json_object":false})",
           "structured_outputs: expected one of \"json\", \"regex\", \"choice\", \"grammar\" and "
           "\"json_object\", found none"},
      Case{R"("structured_outputs":{"regexp":"a"})", "structured_outputs.regexp: no such field"},
      Case{R"("structured_outputs":[])", "structured_outputs: expected an object, found an array"},
      Case{R"("structured_outputs":{"structural_tag":"{}"})",
           "structured_outputs.structural_tag: structural tags are not supported; tools and "
           "response_format are"},
      Case{R"("structured_outputs":{"json":{},"whitespace_pattern":" ?"})",
           "structured_outputs.whitespace_pattern: not supported: JSON is written without white "
           "space between values"},
      Case{R"("guided_json":{},"guided_whitespace_pattern":" ?")",
           "guided_whitespace_pattern: expected nothing, found \" ?\" (not supported: JSON is "
           "written without white space between values)"},
      Case{R"("structured_outputs":{"json":{},"disable_additional_properties":true})",
           "structured_outputs.disable_additional_properties: not supported: say "
           "\"additionalProperties\": false in the schema instead"},
      Case{R"("structured_outputs":{"json":{},"disable_fallback":1})",
           "structured_outputs.disable_fallback: expected true or false, found 1"},
      Case{R"("guided_json":3)",
           "guided_json: expected a JSON Schema object, or its text, found 3"},
      Case{R"("guided_json":"[]")",
           "guided_json: expected the text of a JSON Schema object, found \"[]\""},
      Case{R"("guided_regex":"")", "guided_regex: expected a regular expression, found \"\""},
      Case{R"("guided_regex":{})", "guided_regex: expected a regular expression, found an object"},
      Case{R"("guided_grammar":1)", "guided_grammar: expected a grammar, found 1"},
      Case{R"("guided_choice":[])", "guided_choice: expected at least one string, found none"},
      Case{R"("guided_choice":"a")", "guided_choice: expected an array, found \"a\""},
      Case{R"("guided_choice":["a",1])", "guided_choice[1]: expected a string, found 1"},
      Case{R"("guided_json_object":"yes")",
           "guided_json_object: expected true or false, found \"yes\""},
      Case{kTools + R"(,"tool_choice":"required","guided_json":{})",
           "guided_json: cannot be combined with a tool_choice that forces a call"},
      Case{
          kTools +
              R"(,"tool_choice":{"type":"function","function":{"name":"f"}},"structured_outputs":{"regex":"a"})",
          "structured_outputs.regex: cannot be combined with a tool_choice that forces a call"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(refused(c.json), c.message) << c.json;
  }
  EXPECT_TRUE(refused(R"("guided_json":"{")").starts_with("guided_json: the text is no JSON: "));
}

TEST(OutputForm, ChoicesAreBounded) {
  const auto choices = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      list += (i == 0 ? "\"a\"" : ",\"a\"");
    }
    return "\"guided_choice\":[" + list + "]";
  };
  EXPECT_EQ(form(choices(10'000)).choices.size(), 10'000U);
  EXPECT_EQ(refused(choices(10'001), Errc::kInvalidArgument),
            "guided_choice: expected at most 10000 items, found 10001");
}

TEST(OutputForm, AForcedCallLeavesResponseFormatToThePrompt) {
  const auto request =
      parse_chat_request(with(kTools + R"(,"tool_choice":"required",)" + kSchemaFormat));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->output.kind, Kind::kText);
  EXPECT_EQ(request->response_format.kind, ResponseFormatKind::kJsonSchema);
  EXPECT_EQ(form(kTools + "," + kSchemaFormat).kind, Kind::kSchema);
  EXPECT_EQ(form(kTools + R"(,"tool_choice":"none",)" + kSchemaFormat).kind, Kind::kSchema);
}

}  // namespace
}  // namespace daybreak::chat
