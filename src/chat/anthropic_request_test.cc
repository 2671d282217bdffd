// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_request.h"

#include <gtest/gtest.h>

#include "chat/render.h"

namespace daybreak::chat {
namespace {

std::string body_with(const std::string& more,
                      const std::string& messages = R"([{"role":"user","content":"hi"}])") {
  return R"({"model":"nano","max_tokens":9,"messages":)" + messages + (more.empty() ? "" : ",") +
         more + "}";
}

AnthropicRequest parsed(const std::string& json) {
  auto request = parse_anthropic_request(json, AnthropicCall::kMessages);
  EXPECT_TRUE(request) << json << (request ? "" : request.error().message);
  return request ? *std::move(request) : AnthropicRequest{};
}

AnthropicRequest with_messages(const std::string& messages) {
  return parsed(body_with("", messages));
}

std::string fault(const std::string& json, AnthropicCall call = AnthropicCall::kMessages) {
  const auto request = parse_anthropic_request(json, call);
  EXPECT_FALSE(request) << json;
  return request ? "" : request.error().message;
}

std::string text_of(const Message& message) {
  std::string text;
  for (const ContentPart& part : message.content) {
    text += part.kind == ContentPart::Kind::kText ? part.text : "<" + part.url + ">";
  }
  return text;
}

// The prompt the OpenAI form of a conversation gives.
std::string openai_prompt(const std::string& json) {
  const auto request = parse_chat_request(json);
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  const auto prompt = render_segments(*request);
  EXPECT_TRUE(prompt) << (prompt ? "" : prompt.error().message);
  return join_text(prompt->segments);
}

std::string prompt_of(const AnthropicRequest& request) {
  const auto prompt = render_segments(request.chat);
  EXPECT_TRUE(prompt) << (prompt ? "" : prompt.error().message);
  return prompt ? join_text(prompt->segments) : "";
}

constexpr const char* kUse =
    R"({"role":"assistant","content":[{"type":"thinking","thinking":"look","signature":""},)"
    R"({"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"Checking"},)"
    R"({"type":"tool_use","id":"t1","name":"get","input":{"b": 1e2,"a":"x"}},)"
    R"({"type":"tool_use","id":"t2","name":"put","input":{}}]})";

TEST(AnthropicRequest, ConversationGivesThePromptOfItsOpenAiForm) {
  const std::string tools =
      R"("tools":[{"name":"get","description":"d","input_schema":{"type":"object","a":1}},)"
      R"({"type":"custom","name":"put","input_schema":{"type":"object"},"strict":true,)"
      R"("cache_control":{"type":"ephemeral"}}],)"
      R"("system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},)"
      R"({"type":"text","text":"b"}])";
  const AnthropicRequest request = parsed(
      body_with(tools, std::string(R"([{"role":"user","content":"q"},)") + kUse +
                           R"(,{"role":"user","content":[{"type":"text","text":"and"},)"
                           R"({"type":"tool_result","tool_use_id":"t2","content":"two"},)"
                           R"({"type":"tool_result","tool_use_id":"t1","is_error":true,"content":)"
                           R"([{"type":"text","text":"no"}]},{"type":"text","text":" then"}]}])"));
  const std::string expected = openai_prompt(
      R"({"messages":[{"role":"system","content":"ab"},{"role":"user","content":"q"},)"
      R"({"role":"assistant","reasoning_content":"look","content":"Checking","tool_calls":[)"
      R"({"id":"t1","function":{"name":"get","arguments":"{\"b\": 1e2,\"a\":\"x\"}"}},)"
      R"({"id":"t2","function":{"name":"put","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"t2","content":"two"},)"
      R"({"role":"tool","tool_call_id":"t1","content":"Error: no"},)"
      R"({"role":"user","content":"and then"}],"tools":[)"
      R"({"type":"function","function":{"name":"get","description":"d","parameters":{"type":"object","a":1}}},)"
      R"({"type":"function","function":{"name":"put","parameters":{"type":"object"},"strict":true}}]})");
  EXPECT_EQ(prompt_of(request), expected);
  EXPECT_EQ(request.chat.messages.at(2).tool_calls.at(0).arguments, R"({"b": 1e2,"a":"x"})");
  EXPECT_EQ(request.chat.tools.at(0).parameters, R"({"type":"object","a":1})");
  EXPECT_TRUE(request.chat.ignored_fields.empty());
}

TEST(AnthropicRequest, TurnsOfOneRoleAreJoined) {
  const AnthropicRequest request = with_messages(
      R"([{"role":"user","content":"a"},{"role":"user","content":"b"},)"
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"t"}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"2","name":"g","input":{}}]},)"
      R"({"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"1"}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":[]}]},)"
      R"({"role":"system","content":"s"}])");
  std::string shown;
  for (const Message& message : request.chat.messages) {
    shown += std::to_string(static_cast<int>(message.role)) + message.tool_call_id +
             text_of(message) + "|";
  }
  EXPECT_EQ(shown, "1a|1b|2|31|32|1x|0s|");
  EXPECT_EQ(request.chat.messages[2].tool_calls.size(), 2U);
  EXPECT_EQ(request.chat.messages[2].reasoning, "t");
}

TEST(AnthropicRequest, LastAssistantMessageIsContinued) {
  const AnthropicRequest request =
      with_messages(R"([{"role":"user","content":"a"},{"role":"assistant","content":"The "}])");
  EXPECT_TRUE(request.chat.messages.back().partial);
  EXPECT_TRUE(prompt_of(request).ends_with("<|open|>response<|sep|>The "));
  EXPECT_EQ(fault(body_with("", std::string(R"([{"role":"user","content":"a"},)") + kUse + "]")),
            "messages[1]: a message with tool_use blocks cannot be continued");
}

TEST(AnthropicRequest, ToolResultsTakeWhateverBlocksAreInThem) {
  const AnthropicRequest request = with_messages(
      std::string("[") + kUse +
      R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[)"
      R"({"type":"tool_reference","tool_name":"mcp__a__b"},{"type":"text","text":";"},)"
      R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"doc"}},)"
      R"({"type":"document","source":{"type":"base64","data":"AA"}},{"type":"brand_new"},{"a":1},7,)"
      R"({"type":"search_result","title":"T","source":"S","content":[{"type":"text","text":"c"}]}]}]}])");
  EXPECT_EQ(text_of(request.chat.messages.at(1)),
            "mcp__a__b;doc[document][brand_new][block][block]T\nS\nc");
}

constexpr const char* kSearch =
    R"({"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}})";
constexpr const char* kFound =
    R"({"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result",)"
    R"("url":"https://x","title":"X","encrypted_content":"RU5D"}]})";

std::string assistant_turn(const std::string& blocks) {
  return R"({"role":"assistant","content":[)" + blocks + "]}";
}

// What Anthropic's own servers ran goes on here as a call and its result.
TEST(AnthropicRequest, ToolsThatAServerRanAreCallsWithResults) {
  const std::string user = R"({"role":"user","content":"hi"})";
  const AnthropicRequest request = with_messages(
      "[" + user + "," +
      assistant_turn(R"({"type":"text","text":"Let me look."},)" + std::string(kSearch) + "," +
                     kFound + R"(,{"type":"text","text":"It is X."})") +
      "," + user + "]");
  EXPECT_EQ(
      prompt_of(request),
      openai_prompt(
          R"({"messages":[)" + user +
          R"(,{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"s1","type":"function",)"
          R"("function":{"name":"web_search","arguments":"{\"query\":\"q\"}"}}]},)"
          R"({"role":"tool","tool_call_id":"s1","content":"[{\"type\": \"web_search_result\", )"
          R"(\"url\": \"https://x\", \"title\": \"X\"}]"},)"
          R"({"role":"assistant","content":"It is X."},)" +
          user + "]}"));
}

TEST(AnthropicRequest, ServerToolsOfEveryKindBesideOnesOfTheClient) {
  const std::string user = R"({"role":"user","content":"hi"})";
  const std::string mcp =
      R"({"type":"mcp_tool_use","id":"m1","name":"get","server_name":"s","input":{}})";
  const std::string got =
      R"({"type":"mcp_tool_result","tool_use_id":"m1","is_error":true,"content":[{"type":"text","text":"no"}]})";
  const std::string mine = R"({"type":"tool_use","id":"t1","name":"f","input":{}})";
  const AnthropicRequest request = with_messages(
      "[" + user + "," +
      assistant_turn(std::string(kSearch) + "," + mcp + "," + kFound + "," + got + "," + mine) +
      R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}])");
  std::string shown;
  for (const Message& message : request.chat.messages) {
    shown += std::to_string(static_cast<int>(message.role)) + message.tool_call_id +
             std::to_string(message.tool_calls.size()) + "|";
  }
  EXPECT_EQ(shown, "10|22|3s10|3m10|21|3t10|");
  EXPECT_EQ(text_of(request.chat.messages[3]), "Error: no");
}

// A turn that a server paused is sent back to be gone on with.
TEST(AnthropicRequest, ATurnThatEndsWithAServersResultIsAnsweredAnew) {
  const std::string user = R"({"role":"user","content":"hi"})";
  const AnthropicRequest request =
      with_messages("[" + user + "," + assistant_turn(std::string(kSearch) + "," + kFound) + "]");
  ASSERT_EQ(request.chat.messages.size(), 3U);
  EXPECT_EQ(request.chat.messages.back().role, Role::kTool);
  EXPECT_EQ(fault(body_with("", "[" + user + "," + assistant_turn(kSearch) + "]")),
            "messages[1]: a message with tool_use blocks cannot be continued");
  EXPECT_EQ(fault(body_with("", "[" + user + "," + assistant_turn(kFound) + "," + user + "]")),
            "messages[1].content[0].tool_use_id: expected the id of a server_tool_use or "
            "mcp_tool_use block before, each answered once, found \"s1\"");
  EXPECT_EQ(fault(body_with(
                "", "[" + user + "," + assistant_turn(R"({"type":"container_upload"})") + "]")),
            "messages[1].content[0].type: expected \"text\", \"thinking\", \"redacted_thinking\", "
            "\"tool_use\", \"server_tool_use\", \"mcp_tool_use\" or the result of a server's tool, "
            "found \"container_upload\"");
}

TEST(AnthropicRequest, ImagesBecomeUrls) {
  const AnthropicRequest request = with_messages(
      R"([{"role":"user","content":[{"type":"text","text":"see "},{"type":"image","source":)"
      R"({"type":"base64","media_type":"image/png","data":"iVBO"}},{"type":"image","source":)"
      R"({"type":"url","url":"https://x/y.png"}}]}])");
  EXPECT_EQ(text_of(request.chat.messages.at(0)),
            "see <data:image/png;base64,iVBO><https://x/y.png>");
  EXPECT_EQ(request.first_image, "messages[0].content[1]");
}

TEST(AnthropicRequest, SystemLosesTheBillingBlockAndNothingElse) {
  EXPECT_EQ(text_of(parsed(body_with(R"("system":[{"type":"text","text":)"
                                     R"("x-anthropic-billing-header: cch=1"},)"
                                     R"({"type":"text","text":"You are"}])"))
                        .chat.messages.at(0)),
            "You are");
  EXPECT_EQ(parsed(body_with(R"("system":"")")).chat.messages.size(), 1U);
  EXPECT_EQ(text_of(parsed(body_with(R"("system":"s")")).chat.messages.at(0)), "s");
}

TEST(AnthropicRequest, ThinkingAndEffort) {
  struct Case {
    std::string fields;
    bool enabled;
    Effort effort;
    bool show = true;
  };
  for (
      const Case& c : {
          Case{"", true, Effort::kMax},
          Case{R"("thinking":{"type":"adaptive"})", true, Effort::kMax},
          Case{R"("thinking":{"type":"adaptive","display":"omitted"})", true, Effort::kMax, false},
          Case{R"("thinking":{"type":"disabled"})", false, Effort::kMax},
          Case{R"("thinking":{"type":"enabled","budget_tokens":8191})", true, Effort::kLow},
          Case{R"("thinking":{"type":"enabled","budget_tokens":8192})", true, Effort::kHigh},
          Case{R"("thinking":{"type":"enabled","budget_tokens":24575})", true, Effort::kHigh},
          Case{R"("thinking":{"type":"enabled","budget_tokens":24576})", true, Effort::kMax},
          Case{R"("output_config":{"effort":"minimal"})", true, Effort::kLow},
          Case{R"("output_config":{"effort":"low"})", true, Effort::kLow},
          Case{R"("output_config":{"effort":"medium"})", true, Effort::kHigh},
          Case{R"("output_config":{"effort":"high"})", true, Effort::kHigh},
          Case{R"("output_config":{"effort":"xhigh"})", true, Effort::kMax},
          Case{R"("output_config":{"effort":"max"})", true, Effort::kMax},
          Case{
              R"("output_config":{"effort":"low"},"thinking":{"type":"enabled","budget_tokens":90000})",
              true, Effort::kLow},
      }) {
    SCOPED_TRACE(c.fields);
    const AnthropicRequest request = parsed(body_with(c.fields));
    EXPECT_EQ(request.chat.thinking.enabled, c.enabled);
    EXPECT_EQ(request.chat.thinking.effort, c.effort);
    EXPECT_EQ(request.show_thinking, c.show);
  }
}

constexpr const char* kTool = R"("tools":[{"name":"f","input_schema":{"type":"object"}}])";

TEST(AnthropicRequest, ToolChoice) {
  const auto choice = [](const std::string& json) {
    return parsed(body_with(std::string(kTool) + R"(,"tool_choice":)" + json)).chat;
  };
  EXPECT_EQ(choice(R"({"type":"auto"})").tool_choice.kind, ToolChoiceKind::kAuto);
  EXPECT_TRUE(choice(R"({"type":"auto"})").parallel_tool_calls);
  EXPECT_EQ(choice(R"({"type":"any"})").tool_choice.kind, ToolChoiceKind::kRequired);
  EXPECT_EQ(choice(R"({"type":"none"})").tool_choice.kind, ToolChoiceKind::kNone);
  const ChatRequest named =
      choice(R"({"type":"tool","name":"f","disable_parallel_tool_use":true})");
  EXPECT_EQ(named.tool_choice.kind, ToolChoiceKind::kNamed);
  EXPECT_EQ(named.tool_choice.name, "f");
  EXPECT_FALSE(named.parallel_tool_calls);
}

TEST(AnthropicRequest, SamplingAndTheRest) {
  const AnthropicRequest request = parsed(
      R"({"model":"kimi-k3[1m]","max_tokens":7,"messages":[{"role":"user","content":"a"}],)"
      R"("temperature":0.5,"top_p":0.25,"top_k":3,"stop_sequences":["x","yy"],"stream":true,)"
      R"("metadata":{"user_id":"me"},"container":null,"mcp_servers":[]})");
  const ChatRequest& chat = request.chat;
  EXPECT_EQ(chat.model, "kimi-k3");
  EXPECT_EQ(chat.sampling.max_tokens, 7U);
  EXPECT_EQ(chat.sampling.temperature, 0.5);
  EXPECT_EQ(chat.sampling.top_p, 0.25);
  EXPECT_EQ(chat.sampling.top_k, 3U);
  EXPECT_EQ(chat.sampling.stop, (std::vector<std::string>{"x", "yy"}));
  EXPECT_TRUE(chat.stream);
  EXPECT_EQ(chat.user, "me");
}

TEST(AnthropicRequest, StructuredOutputInBothSpellings) {
  const std::string format = R"({"type":"json_schema","schema":{"type":"object","a":1.0}})";
  const ChatRequest chat = parsed(body_with(R"("output_config":{"format":)" + format + "}")).chat;
  EXPECT_EQ(chat.response_format.kind, ResponseFormatKind::kJsonSchema);
  EXPECT_EQ(chat.response_format.schema, R"({"a":1.0,"type":"object"})");
  EXPECT_EQ(chat.output.kind, OutputForm::Kind::kSchema);
  EXPECT_EQ(chat.output.source, R"({"type":"object","a":1.0})");
  EXPECT_EQ(chat.output.field, "output_config.format.schema");
  const ChatRequest older = parsed(body_with(R"("output_format":)" + format)).chat;
  EXPECT_EQ(older.output.field, "output_format.schema");
  const ChatRequest forced =
      parsed(body_with(std::string(kTool) + R"(,"tool_choice":{"type":"any"},"output_format":)" +
                       format))
          .chat;
  EXPECT_EQ(forced.output.kind, OutputForm::Kind::kText);
  EXPECT_EQ(forced.response_format.kind, ResponseFormatKind::kJsonSchema);
}

TEST(AnthropicRequest, IgnoredFieldsAreNamed) {
  const ChatRequest chat =
      parsed(body_with(R"("cache_control":{"type":"ephemeral"},"context_management":{"edits":[]},)"
                       R"("betas":["a"],"service_tier":"auto","wibble":1,)"
                       R"("output_config":{"task_budget":{}})"))
          .chat;
  EXPECT_EQ(chat.ignored_fields,
            (std::vector<std::string>{"cache_control", "context_management", "betas",
                                      "service_tier", "wibble", "output_config.task_budget"}));
}

TEST(AnthropicRequest, CountingNeedsNoMaxTokens) {
  const std::string body = R"({"model":"nano","messages":[{"role":"user","content":"hi"}]})";
  EXPECT_TRUE(parse_anthropic_request(body, AnthropicCall::kCountTokens));
  EXPECT_EQ(fault(body), "max_tokens: expected an integer from 1, found nothing");
}

TEST(AnthropicRequest, InvalidInputGoesBackAsTheModelWroteIt) {
  const AnthropicRequest request =
      with_messages(R"([{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f",)"
                    R"("input":{"INVALID_JSON":"{\"a\":"}}]},{"role":"user","content":"x"}])");
  EXPECT_EQ(request.chat.messages.at(0).tool_calls.at(0).arguments, R"({"a":)");
}

// What a reply may hold is accepted back, however deep it is nested.
TEST(AnthropicRequest, DeepestInputOfAReplyIsAccepted) {
  const std::string input = R"({"a":)" + std::string(64, '[') + std::string(64, ']') + "}";
  const AnthropicRequest request = with_messages(
      R"([{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":)" + input +
      R"(}]},{"role":"user","content":"x"}])");
  EXPECT_EQ(request.chat.messages.at(0).tool_calls.at(0).arguments, input);
}

TEST(AnthropicRequest, FaultsSayWhereAndWhat) {
  struct Case {
    std::string json;
    std::string begins;
  };
  const auto user = [](const std::string& block) {
    return body_with("", R"([{"role":"user","content":[)" + block + "]}]");
  };
  const auto tool = [](const std::string& json) { return body_with(R"("tools":[)" + json + "]"); };
  for (const Case& c : {
           Case{"[]", "request body: expected an object"},
           Case{R"({"max_tokens":1})", "model: expected the name of a model, found nothing"},
           Case{R"({"model":"[1m]","max_tokens":1})", "model: expected the name"},
           Case{R"({"model":"n","max_tokens":1})", "messages: expected an array, found nothing"},
           Case{body_with("", "[]"), "messages: expected at least one message"},
           Case{body_with("", R"([{"content":"x"}])"), "messages[0].role: expected \"user\""},
           Case{body_with("", R"([{"role":"tool","content":"x"}])"), "messages[0].role: expected"},
           Case{body_with("", R"([{"role":"user"}])"), "messages[0].content: expected a string or"},
           Case{user("7"), "messages[0].content[0]: expected an object, found 7"},
           Case{user(R"({"text":"x"})"), "messages[0].content[0].type: expected a string"},
           Case{user(R"({"type":"text"})"), "messages[0].content[0].text: expected a string"},
           Case{user(R"({"type":"nope"})"),
                "messages[0].content[0].type: blocks of type \"nope\" are not supported"},
           Case{user(R"({"type":"document","source":{"type":"base64","data":"x"}})"),
                "messages[0].content[0].source.type: documents of source \"base64\""},
           Case{user(R"({"type":"document","citations":{"enabled":true},"source":{}})"),
                "messages[0].content[0].citations.enabled: citations are not supported"},
           Case{user(R"({"type":"image","source":{"type":"file","file_id":"f"}})"),
                "messages[0].content[0].source.type: expected \"base64\" or \"url\""},
           Case{user(R"({"type":"tool_result","content":"x"})"),
                "messages[0].content[0].tool_use_id: expected the id of a tool_use block of the"},
           Case{user(R"({"type":"tool_result","tool_use_id":"t9","content":"x"})"),
                "messages[0].content[0].tool_use_id: expected the id of a tool_use block of the"},
           Case{body_with("", std::string("[") + kUse +
                                  R"(,{"role":"user","content":[)"
                                  R"({"type":"tool_result","tool_use_id":"t1"},)"
                                  R"({"type":"tool_result","tool_use_id":"t1"}]}])"),
                "messages[1].content[1].tool_use_id: expected"},
           Case{body_with("", R"([{"role":"assistant","content":[{"type":"image"}]}])"),
                "messages[0].content[0].type: expected \"text\", \"thinking\""},
           Case{body_with("", R"([{"role":"assistant","content":[)"
                              R"({"type":"tool_use","id":"1","name":"f","input":"{}"}]}])"),
                "messages[0].content[0].input: expected an object"},
           Case{body_with(R"("system":[{"type":"image"}])"), "system[0].type: expected \"text\""},
           Case{tool(R"({"name":"f"})"), "tools[0].input_schema: expected a JSON Schema object"},
           Case{tool(R"({"name":"a b","input_schema":{}})"), "tools[0].name: expected a name of"},
           Case{tool(R"({"type":"web_search_20250305","name":"web_search"})"),
                "tools[0].type: \"web_search_20250305\" is run by the server"},
           Case{tool(R"({"type":"bash_20250124","name":"bash"})"),
                "tools[0].type: \"bash_20250124\" has no schema in the request"},
           Case{tool(R"({"type":"function"})"), "tools[0].type: expected \"custom\""},
           Case{tool(R"({"name":"f","input_schema":{}},{"name":"f","input_schema":{}})"),
                "tools[1].name: tool 'f' is declared more than once"},
           Case{body_with(R"("tool_choice":{"type":"any"})"), "tool_choice: \"any\" needs"},
           Case{body_with(R"("tool_choice":{"type":"tool","name":"g"})"), "tool_choice.name:"},
           Case{body_with(R"("tool_choice":"auto")"), "tool_choice: expected an object"},
           Case{body_with(R"("thinking":{"type":"on"})"), "thinking.type: expected \"enabled\""},
           Case{body_with(R"("thinking":{"type":"enabled","budget_tokens":0})"),
                "thinking.budget_tokens: expected an integer from 1"},
           Case{body_with(R"("output_config":{"effort":"none"})"), "output_config.effort: "},
           Case{body_with(R"("output_config":7)"), "output_config: expected an object"},
           Case{body_with(R"("output_format":{"type":"json_object"})"), "output_format.type: "},
           Case{body_with(R"("temperature":3)"), "temperature: expected a number from 0 to 2"},
           Case{body_with(R"("top_p":0)"), "top_p: expected a number above 0"},
           Case{body_with(R"("top_k":-1)"), "top_k: expected an integer from 0"},
           Case{body_with(R"("stop_sequences":"x")"), "stop_sequences: expected an array"},
           Case{body_with(R"("stop_sequences":[""])"), "stop_sequences[0]: expected a string"},
           Case{body_with(R"("stream":"yes")"), "stream: expected true or false"},
           Case{body_with(R"("mcp_servers":[{"url":"x"}])"),
                "mcp_servers: expected [] or nothing, found an array (this server connects"},
           Case{body_with(R"("container":"c1")"),
                "container: expected nothing, found \"c1\" (there are no containers"},
           Case{body_with(R"("stream":true,"stream":false)"), "stream: key given more than once"},
       }) {
    SCOPED_TRACE(c.json);
    const std::string message = fault(c.json);
    EXPECT_TRUE(message.starts_with(c.begins)) << message;
  }
}

}  // namespace
}  // namespace daybreak::chat
