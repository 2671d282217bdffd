// SPDX-License-Identifier: Apache-2.0
// The rules by which Moonshot's vendor verifier expects a request to be refused with 400, one test
// each: kInvalidArgument, the path of the field, what was expected and what was found.

#include <gtest/gtest.h>

#include <string>

#include "chat/chat_request.h"

namespace daybreak::chat {
namespace {

const std::string kUser = R"({"role":"user","content":"hi"})";

std::string messages(const std::string& list, const std::string& rest = "") {
  return "{\"messages\":[" + list + "]" + (rest.empty() ? "" : "," + rest) + "}";
}
std::string with(const std::string& rest) { return messages(kUser, rest); }
std::string tool(const std::string& name) {
  return R"({"type":"function","function":{"name":")" + name + "\"}}";
}
std::string dynamic(const std::string& tools, const std::string& more = "") {
  return R"({"role":"system")" + more + ",\"tools\":[" + tools + "]}";
}
std::string schema_format(const std::string& json_schema) {
  return with(R"("response_format":{"type":"json_schema","json_schema":)" + json_schema + "}");
}

// Both contracts refuse `json` because of `param`.
void expect_refused(const std::string& json, const std::string& param) {
  for (const Contract contract : {Contract::kOpen, Contract::kVendor}) {
    const auto request = parse_chat_request(json, {.contract = contract});
    ASSERT_FALSE(request) << json;
    EXPECT_EQ(request.error().code, Errc::kInvalidArgument) << json;
    const std::string& message = request.error().message;
    EXPECT_EQ(message.substr(0, message.find(": ")), param) << message;
    EXPECT_NE(message.find("expected "), std::string::npos) << message;
    EXPECT_NE(message.find("found "), std::string::npos) << message;
  }
}

void expect_accepted(const std::string& json) {
  for (const Contract contract : {Contract::kOpen, Contract::kVendor}) {
    const auto request = parse_chat_request(json, {.contract = contract});
    EXPECT_TRUE(request) << json << (request ? "" : request.error().message);
  }
}

TEST(RequestRules, ToolsOnAUserMessage) {
  expect_refused(messages(R"({"role":"user","content":"x","tools":[)" + tool("f") + "]}"),
                 "messages[0].tools");
}

TEST(RequestRules, ToolsOnAnAssistantOrToolMessage) {
  for (const std::string role : {"assistant", "tool"}) {
    expect_refused(messages(kUser + R"(,{"role":")" + role +
                            R"(","tool_call_id":"x","content":"x","tools":[)" + tool("f") + "]}"),
                   "messages[1].tools");
  }
}

TEST(RequestRules, ContentAndToolsInASystemMessage) {
  expect_refused(messages(dynamic(tool("f"), R"(,"content":"x")")), "messages[0].tools");
  expect_refused(
      messages(dynamic(tool("f"), R"(,"content":[{"type":"text","text":"x"}])") + "," + kUser),
      "messages[0].tools");
  for (const std::string empty : {"\"\"", "null", "[]", R"([{"type":"text","text":""}])"}) {
    expect_accepted(messages(dynamic(tool("f"), ",\"content\":" + empty) + "," + kUser));
  }
}

TEST(RequestRules, ToolsThatAreNoArray) {
  for (const std::string value : {"{}", "\"f\"", "1", "true"}) {
    expect_refused(with("\"tools\":" + value), "tools");
    expect_refused(messages(R"({"role":"system","tools":)" + value + "}"), "messages[0].tools");
  }
}

TEST(RequestRules, ToolThatIsNoObject) {
  for (const std::string value : {"[]", "\"f\"", "1", "null"}) {
    expect_refused(with("\"tools\":[" + tool("f") + "," + value + "]"), "tools[1]");
    expect_refused(messages(dynamic(value)), "messages[0].tools[0]");
  }
}

TEST(RequestRules, ToolWithoutAType) {
  expect_refused(with(R"("tools":[{"function":{"name":"f"}}])"), "tools[0].type");
  expect_refused(messages(dynamic(R"({"function":{"name":"f"}})")), "messages[0].tools[0].type");
}

TEST(RequestRules, ToolOfAnotherTypeAlsoAmongOthers) {
  const std::string other = R"({"type":"retrieval","function":{"name":"g"}})";
  expect_refused(with("\"tools\":[" + tool("f") + "," + other + "]"), "tools[1].type");
  expect_refused(messages(dynamic(tool("f") + "," + other)), "messages[0].tools[1].type");
  expect_refused(with(R"("tools":[{"type":1,"function":{"name":"g"}}])"), "tools[0].type");
}

TEST(RequestRules, ToolWithoutAFunction) {
  expect_refused(with(R"("tools":[{"type":"function"}])"), "tools[0].function");
  expect_refused(with(R"("tools":[{"type":"function","function":null}])"), "tools[0].function");
  expect_refused(with(R"("tools":[{"type":"function","function":"f"}])"), "tools[0].function");
}

TEST(RequestRules, ToolWithoutAName) {
  expect_refused(with(R"("tools":[{"type":"function","function":{}}])"), "tools[0].function.name");
  expect_refused(with(R"("tools":[{"type":"function","function":{"name":1}}])"),
                 "tools[0].function.name");
}

TEST(RequestRules, ToolNameOfAWrongForm) {
  const std::string too_long(257, 'a');
  for (const std::string name : {"", "@a", "a b", "a<", "a&b", "\u00e9", "a\\n", "a\\\""}) {
    expect_refused(with("\"tools\":[" + tool(name) + "]"), "tools[0].function.name");
    expect_refused(messages(dynamic(tool(name))), "messages[0].tools[0].function.name");
  }
  expect_refused(with("\"tools\":[" + tool(too_long) + "]"), "tools[0].function.name");
  for (const std::string& name : {std::string("_"), std::string("a-b_9"), too_long.substr(1)}) {
    expect_accepted(with("\"tools\":[" + tool(name) + "]"));
  }
}

// MCP servers have such names; the vendor's own API refuses them.
TEST(RequestRules, ToolNamesOfOtherProvidersAreOpenModesAlone) {
  for (const std::string name :
       {"21st_search", "mcp.get", "-a", "1", "ns/get", "server:tool", "a.b-c_9"}) {
    for (const std::string& json :
         {with("\"tools\":[" + tool(name) + "]"), messages(dynamic(tool(name)) + "," + kUser)}) {
      const auto open = parse_chat_request(json);
      EXPECT_TRUE(open) << json << (open ? "" : open.error().message);
      const auto vendor = parse_chat_request(json, {.contract = Contract::kVendor});
      ASSERT_FALSE(vendor) << json;
      EXPECT_NE(vendor.error().message.find("[A-Za-z_][A-Za-z0-9_-]{0,255}"), std::string::npos);
    }
  }
}

// Quotes and escapes are no part of what a limit is about.
TEST(RequestRules, AStringIsAsLongAsItsText) {
  const auto refused = [](const std::string& json) {
    const auto request = parse_chat_request(json);
    return request ? "" : request.error().message;
  };
  EXPECT_EQ(refused(with("\"tools\":[" + tool(std::string(257, 'x')) + "]")),
            "tools[0].function.name: expected a name of the form [A-Za-z0-9_./:-]{1,256}, found a "
            "string of 257 bytes");
  std::string escaped;
  for (int i = 0; i < 50; ++i) {
    escaped += "\\u00e9";  // two bytes of UTF-8
  }
  EXPECT_EQ(refused(with("\"tool_choice\":\"" + escaped + "\"")).substr(0, 11), "tool_choice");
  EXPECT_TRUE(refused(with("\"tool_choice\":\"" + escaped + "\""))
                  .ends_with(", found a string of 100 bytes"));
  EXPECT_TRUE(
      refused(with("\"n\":1" + std::string(50, '0'))).ends_with(", found a number of 51 bytes"));
}

// 413 is for bodies: what is in one is right or wrong.
TEST(RequestRules, BoundsOfFieldsAreInvalidArguments) {
  std::string stops = "\"x\"";
  for (int i = 1; i < 17; ++i) {
    stops += ",\"x\"";
  }
  std::string deep = "1";
  for (int i = 0; i < 70; ++i) {
    deep = "[" + deep + "]";
  }
  for (const std::string& json :
       {with("\"stop\":[" + stops + "]"), with("\"stop\":\"" + std::string(257, 'x') + "\""),
        with("\"user\":\"" + std::string(1'025, 'x') + "\""), with("\"unknown\":" + deep),
        with("\"model\":\"" + std::string(257, 'x') + "\"")}) {
    const auto request = parse_chat_request(json);
    ASSERT_FALSE(request) << json;
    EXPECT_EQ(request.error().code, Errc::kInvalidArgument) << request.error().message;
  }
}

TEST(RequestRules, ParametersMayBeAbsent) {
  expect_accepted(with("\"tools\":[" + tool("f") + "]"));
  expect_accepted(with(R"("tools":[{"type":"function","function":{"name":"f","strict":false}}])"));
}

TEST(RequestRules, NameTwiceInOneList) {
  expect_refused(with("\"tools\":[" + tool("f") + "," + tool("g") + "," + tool("f") + "]"),
                 "tools[2].function.name");
  expect_refused(messages(dynamic(tool("f") + "," + tool("f"))),
                 "messages[0].tools[1].function.name");
}

TEST(RequestRules, NameTwiceAcrossMessages) {
  expect_refused(messages(dynamic(tool("f")) + "," + kUser + "," + dynamic(tool("f"))),
                 "messages[2].tools[0].function.name");
}

TEST(RequestRules, NameInAMessageAndInTheRequest) {
  expect_refused(messages(kUser + "," + dynamic(tool("f")), "\"tools\":[" + tool("f") + "]"),
                 "messages[1].tools[0].function.name");
}

TEST(RequestRules, DynamicToolsStandAnywhere) {
  expect_accepted(messages(dynamic(tool("f")) + "," + kUser));
  expect_accepted(messages(kUser + "," + dynamic(tool("f")) + "," + kUser));
  expect_accepted(messages(kUser + "," + dynamic(tool("f"))));
  expect_accepted(messages(dynamic(tool("f")) + "," + kUser + "," + dynamic(tool("g"))));
}

TEST(RequestRules, ToolMessageWithoutItsCall) {
  expect_refused(messages(R"({"role":"tool","content":"x"})"), "messages[0].tool_call_id");
  expect_refused(messages(R"({"role":"tool","content":"x","tool_call_id":""})"),
                 "messages[0].tool_call_id");
  expect_refused(messages(R"({"role":"tool","content":"x","tool_call_id":7})"),
                 "messages[0].tool_call_id");
}

TEST(RequestRules, UnknownRole) {
  expect_refused(messages(R"({"role":"function","content":"x"})"), "messages[0].role");
}

TEST(RequestRules, UnknownResponseFormat) {
  expect_refused(with(R"("response_format":{"type":"xml"})"), "response_format.type");
  expect_refused(with(R"("response_format":{})"), "response_format.type");
  expect_refused(with(R"("response_format":"json_object")"), "response_format");
}

TEST(RequestRules, JsonSchemaWithoutItsParts) {
  expect_refused(with(R"("response_format":{"type":"json_schema"})"),
                 "response_format.json_schema");
  expect_refused(schema_format(R"({"schema":{}})"), "response_format.json_schema.name");
  expect_refused(schema_format(R"({"name":"n"})"), "response_format.json_schema.schema");
}

TEST(RequestRules, StrictThatIsNoBoolean) {
  for (const std::string value : {"\"true\"", "1", "{}"}) {
    expect_refused(schema_format(R"({"name":"n","schema":{},"strict":)" + value + "}"),
                   "response_format.json_schema.strict");
    expect_refused(
        with(R"("tools":[{"type":"function","function":{"name":"f","strict":)" + value + "}}]"),
        "tools[0].function.strict");
  }
}

TEST(RequestRules, SchemaThatIsNoObject) {
  for (const std::string value : {"\"x\"", "[]", "1", "true"}) {
    expect_refused(schema_format(R"({"name":"n","schema":)" + value + "}"),
                   "response_format.json_schema.schema");
  }
}

TEST(RequestRules, InvalidToolChoice) {
  const std::string tools = "\"tools\":[" + tool("f") + "]";
  for (const std::string value : {"\"bogus\"", "\"\"", "1", "true", "[]"}) {
    expect_refused(with(tools + ",\"tool_choice\":" + value), "tool_choice");
  }
  expect_refused(
      with(tools + R"(,"tool_choice":{"type":"function","function":{"name":"unknown"}})"),
      "tool_choice.function.name");
}

TEST(RequestRules, RequiredWithoutTools) {
  expect_refused(with(R"("tool_choice":"required")"), "tool_choice");
  expect_refused(with(R"("tool_choice":"required","tools":[])"), "tool_choice");
  expect_refused(with(R"("tool_choice":"required","tools":null)"), "tool_choice");
}

TEST(RequestRules, RequiredWithDynamicToolsOnly) {
  expect_accepted(messages(dynamic(tool("f")) + "," + kUser, R"("tool_choice":"required")"));
  expect_accepted(messages(kUser + "," + dynamic(tool("f")), R"("tool_choice":"required")"));
}

TEST(RequestRules, AutoAndNoneWithoutTools) {
  expect_accepted(with(R"("tool_choice":"auto")"));
  expect_accepted(with(R"("tool_choice":"none","tools":[])"));
}

TEST(RequestRules, EffortThatIsNone) {
  for (const std::string effort : {"LOW", "", "highest"}) {
    expect_refused(with("\"reasoning_effort\":\"" + effort + "\""), "reasoning_effort");
  }
  for (const std::string effort : {"none", "minimal", "medium", "xhigh", "LOW", ""}) {
    expect_refused(with(R"("thinking":{"type":"enabled","effort":")" + effort + "\"}"),
                   "thinking.effort");
  }
  expect_refused(with(R"("thinking":{"keep":"last"})"), "thinking.keep");
}

}  // namespace
}  // namespace daybreak::chat
