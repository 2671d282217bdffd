// SPDX-License-Identifier: Apache-2.0
// What a Responses request means: by the chat request it equals, or the error it gets.

#include "chat/responses_request.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json_tree.h"
#include "chat/render.h"
#include "chat/responses_conversation.h"
#include "chat/responses_json.h"
#include "testing/paths.h"

namespace daybreak::chat {
namespace {

const ResponsesHistory& no_history() {
  static const ResponsesHistory history = {
      .conversation = [](std::string_view) -> Result<std::vector<ResponsesItemPtr>> {
        return Error{Errc::kNotFound, "no such response"};
      },
      .item = [](std::string_view) -> Result<ResponsesItemPtr> {
        return Error{Errc::kNotFound, "no such item"};
      }};
  return history;
}

Result<ResponsesRequest> parse(const std::string& json) {
  return parse_responses_request(json, no_history());
}

std::string segments(const ChatRequest& request) {
  const auto prompt = render_segments(request);
  EXPECT_TRUE(prompt) << (prompt ? "" : prompt.error().message);
  std::string out;
  for (std::size_t i = 0; prompt && i < prompt->segments.size(); ++i) {
    out += (prompt->segments[i].allow_special ? "[" : "(") + prompt->segments[i].text + "\n";
  }
  return out;
}

std::string prompt_of(const std::string& json) {
  const auto request = parse(json);
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return request ? segments(request->chat) : "";
}

std::string chat_prompt_of(const std::string& json) {
  const auto request = parse_chat_request(json);
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return request ? segments(*request) : "";
}

std::string error_of(const std::string& json) {
  const auto request = parse(json);
  EXPECT_FALSE(request) << json;
  return request ? "" : request.error().message;
}

TEST(ResponsesRequest, TextIsAUserMessageAndInstructionsAreTheFirstSystemMessage) {
  EXPECT_EQ(prompt_of(R"({"input":"hi","instructions":"Be brief."})"),
            chat_prompt_of(R"({"messages":[{"role":"system","content":"Be brief."},)"
                           R"({"role":"user","content":"hi"}]})"));
}

TEST(ResponsesRequest, MessagesOfEveryRoleAndPart) {
  EXPECT_EQ(
      prompt_of(
          R"({"input":[{"role":"developer","content":"d"},)"
          R"({"type":"message","role":"system","content":[{"type":"input_text","text":"s"}]},)"
          R"({"role":"user","content":[{"type":"input_text","text":"a"},)"
          R"({"type":"input_text","text":"b"}]},)"
          R"({"type":"message","role":"assistant","id":"msg_1","status":"completed","content":)"
          R"([{"type":"output_text","text":"x","annotations":[]},)"
          R"({"type":"refusal","refusal":"no"}]},{"role":"user","content":"c"}]})"),
      chat_prompt_of(R"({"messages":[{"role":"developer","content":"d"},)"
                     R"({"role":"system","content":"s"},{"role":"user","content":"ab"},)"
                     R"({"role":"assistant","content":"xno"},{"role":"user","content":"c"}]})"));
}

// The loop of a tool: what a client sends back is the prompt the chat route makes of the same
// conversation, reasoning and the spelling of arguments included (developer messages dropped, null
// fields rendered and arguments re-encoded are known faults of other servers).
TEST(ResponsesRequest, ToolLoopIsOneAssistantMessageWithItsReasoning) {
  const std::string responses =
      R"({"tools":[{"type":"function","name":"f","description":null,"strict":null,)"
      R"("parameters":{"type":"object","properties":{"x":{"type":"number"}}}}],)"
      R"("input":[{"role":"user","content":"go"},)"
      R"({"type":"reasoning","id":"rs_1","summary":[],)"
      R"("content":[{"type":"reasoning_text","text":"plan"}]},)"
      R"({"type":"message","role":"assistant","content":"text"},)"
      R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\":1e2}"},)"
      R"({"type":"function_call","call_id":"c2","name":"f","arguments":"{\"a\":"},)"
      R"({"type":"function_call_output","call_id":"c2","output":"two"},)"
      R"({"type":"function_call_output","call_id":"c1",)"
      R"("output":[{"type":"input_text","text":"one"}]}]})";
  const std::string chat =
      R"({"tools":[{"type":"function","function":{"name":"f",)"
      R"("parameters":{"type":"object","properties":{"x":{"type":"number"}}}}}],)"
      R"("messages":[{"role":"user","content":"go"},{"role":"assistant","content":"text",)"
      R"("reasoning_content":"plan","tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1e2}"}},)"
      R"({"id":"c2","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]},)"
      R"({"role":"tool","tool_call_id":"c2","content":"two"},)"
      R"({"role":"tool","tool_call_id":"c1","content":"one"}]})";
  EXPECT_EQ(prompt_of(responses), chat_prompt_of(chat));
}

TEST(ResponsesRequest, ReasoningComesFromContentElseOurSealElseTheSummary) {
  const auto reasoning = [](const std::string& members) {
    const auto request =
        parse(R"({"input":[{"role":"user","content":"q"},{"type":"reasoning","id":"rs_1",)" +
              members + R"(},{"role":"assistant","content":"a"}]})");
    EXPECT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->chat.messages.size(), 2U);
    return request->chat.messages.at(1).reasoning +
           (request->chat.ignored_fields.empty() ? "" : "!" + request->chat.ignored_fields[0]);
  };
  const std::string seal = R"("encrypted_content":"daybreak-reasoning-1:sealed")";
  const std::string summary = R"("summary":[{"type":"summary_text","text":"sum"}])";
  const std::string content = R"("content":[{"type":"reasoning_text","text":"con"}])";
  EXPECT_EQ(reasoning(seal + "," + summary + "," + content), "con");
  EXPECT_EQ(reasoning(seal + "," + summary), "sealed");
  EXPECT_EQ(reasoning(summary), "sum");
  EXPECT_EQ(reasoning(R"("summary":[],"encrypted_content":"gAAA")"), "!input[].encrypted_content");
}

TEST(ResponsesRequest, ANewAssistantMessageBeginsWithReasoningOrASecondText) {
  const auto request =
      parse(R"({"input":[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},)"
            R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
            R"({"type":"reasoning","summary":[{"type":"summary_text","text":"r"}]},)"
            R"({"type":"function_call","call_id":"d","name":"f","arguments":"{}"}]})");
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_EQ(request->chat.messages.size(), 3U);
  EXPECT_EQ(request->chat.messages[1].content[0].text, "b");
  EXPECT_EQ(request->chat.messages[1].tool_calls.at(0).id, "c");
  EXPECT_EQ(request->chat.messages[2].reasoning, "r");
  EXPECT_EQ(request->chat.messages[2].tool_calls.at(0).id, "d");
  EXPECT_EQ(request->sources, (std::vector<std::string>{"input[0]", "input[1]", "input[3]"}));
}

TEST(ResponsesRequest, TextFormatIsTheResponseFormatOfTheChatRoute) {
  const std::string schema = R"({"type":"object","properties":{"b":{},"a":{"const":1.0}}})";
  const auto request = parse(R"({"input":"q","text":{"verbosity":"low","format":)"
                             R"({"type":"json_schema","name":"n","schema":)" +
                             schema + "}}}");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->chat.output.kind, OutputForm::Kind::kSchema);
  EXPECT_EQ(request->chat.output.source, schema);
  EXPECT_EQ(request->chat.output.field, "text.format.schema");
  EXPECT_EQ(request->chat.ignored_fields, std::vector<std::string>{"text.verbosity"});
  const auto chat = parse_chat_request(
      R"({"messages":[{"role":"user","content":"q"}],"response_format":{"type":"json_schema",)"
      R"("json_schema":{"name":"n","schema":)" +
      schema + "}}}");
  EXPECT_EQ(segments(request->chat), segments(*chat));
  const auto object = parse(R"({"input":"q","text":{"format":{"type":"json_object"}}})");
  EXPECT_EQ(object->chat.output.kind, OutputForm::Kind::kJsonObject);
  const auto loose = parse(R"({"input":"q","text":{"format":{"type":"json_schema","name":"n",)"
                           R"("strict":false,"schema":{}}}})");
  EXPECT_EQ(loose->chat.output.kind, OutputForm::Kind::kJsonObject);
}

TEST(ResponsesRequest, OptionsAreThoseOfTheChatRoute) {
  const auto request = parse(
      R"({"model":"m","input":"q","max_output_tokens":7,"temperature":0.25,"top_p":0.5,)"
      R"("top_logprobs":3,"reasoning":{"effort":"low","summary":"auto"},"store":false,)"
      R"("parallel_tool_calls":false,"stream":true,"seed":5,"stop":["x"],"user":"u",)"
      R"("prompt_cache_key":"k","safety_identifier":"s","metadata":{"a": "b"},)"
      R"("truncation":"auto","service_tier":"priority","background":false,"conversation":null,)"
      R"("stream_options":{"include_obfuscation":true},"new_field":1})");
  ASSERT_TRUE(request) << request.error().message;
  const ChatRequest& chat = request->chat;
  EXPECT_EQ(chat.sampling.max_tokens, 7U);
  EXPECT_EQ(chat.sampling.max_tokens_field, "max_output_tokens");
  EXPECT_EQ(chat.sampling.temperature, 0.25);
  EXPECT_EQ(chat.sampling.top_p, 0.5);
  EXPECT_TRUE(chat.sampling.logprobs);
  EXPECT_EQ(chat.sampling.top_logprobs, 3U);
  EXPECT_EQ(chat.sampling.seed, 5U);
  EXPECT_EQ(chat.sampling.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(chat.thinking.effort, Effort::kLow);
  EXPECT_FALSE(chat.parallel_tool_calls);
  EXPECT_TRUE(chat.stream);
  EXPECT_FALSE(request->store);
  EXPECT_EQ(request->echo.metadata, R"({"a":"b"})");
  EXPECT_EQ(request->echo.effort, R"("low")");
  std::vector<std::string> ignored = chat.ignored_fields;
  std::ranges::sort(ignored);
  EXPECT_EQ(ignored,
            (std::vector<std::string>{"new_field", "reasoning.summary", "service_tier",
                                      "stream_options.include_obfuscation", "truncation"}));
  EXPECT_FALSE(parse(R"({"input":"q","reasoning":{"effort":"none"}})")->chat.thinking.enabled);
  EXPECT_TRUE(parse(R"({"input":"q"})")->store);
}

TEST(ResponsesRequest, ToolChoices) {
  const std::string tools =
      R"("tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}],"input":"q",)";
  const auto choice = [&](const std::string& text) {
    auto request = parse("{" + tools + "\"tool_choice\":" + text + "}");
    EXPECT_TRUE(request) << request.error().message;
    return *std::move(request);
  };
  EXPECT_EQ(choice("\"required\"").chat.tool_choice.kind, ToolChoiceKind::kRequired);
  EXPECT_EQ(choice("\"none\"").chat.tool_choice.kind, ToolChoiceKind::kNone);
  const auto named = choice(R"({"type":"function","name":"g"})");
  EXPECT_EQ(named.chat.tool_choice.kind, ToolChoiceKind::kNamed);
  EXPECT_EQ(named.chat.tool_choice.name, "g");
  const auto allowed = choice(R"({"type":"allowed_tools","mode":"required",)"
                              R"("tools":[{"type":"function","name":"g"}]})");
  EXPECT_EQ(allowed.chat.tool_choice.kind, ToolChoiceKind::kRequired);
  ASSERT_EQ(allowed.chat.tools.size(), 1U);
  EXPECT_EQ(allowed.chat.tools[0].name, "g");
  EXPECT_EQ(in_responses_terms("tools[0].function.parameters: bad", allowed),
            "tools[1].parameters: bad");
}

TEST(ResponsesRequest, ErrorsNameTheField) {
  struct Case {
    const char* json;
    const char* message;
  };
  const std::string in = R"("input":"q",)";
  for (const Case& one : std::initializer_list<Case>{
           {R"("x":1)", "input: expected a string or an array of items, found nothing"},
           {R"("input":[])", "input: expected at least one item"},
           {R"("input":1)", "input: expected a string or an array of items, found 1"},
           {R"("input":[{"role":"tool","content":"x"}])", "input[0].role: expected \"user\""},
           {R"("input":[{"role":"user"}])", "input[0].content: expected"},
           {R"("input":[{"role":"user","content":[{"type":"input_file","file_id":"x"}]}])",
            "input[0].content[0].type: expected \"input_text\" or \"input_image\", found"},
           {R"("input":[{"role":"user","content":[{"type":"input_image","file_id":"x"}]}])",
            "input[0].content[0].file_id: files are not supported"},
           {R"("input":[{"type":"local_shell_call"}])", "input[0].type: expected \"message\""},
           {R"("input":[{"type":"custom_tool_call"}])", "input[0].type: expected \"message\""},
           {R"("input":[{"type":"item_reference","id":"msg_x"}])", "input[0].id: no such item"},
           {R"("input":[{"id":"msg_x"}])", "input[0].id: no such item"},
           {R"("input":[{"type":"function_call","name":"f","arguments":""}])",
            "input[0].call_id: expected"},
           {R"("input":[{"type":"function_call","call_id":"c","name":"f","arguments":{}}])",
            "input[0].arguments: expected a string"},
           {R"("input":[{"type":"function_call_output","call_id":"c"}])",
            "input[0].output: expected"},
           {R"("input":[{"role":"assistant","content":"x","partial":true}])",
            "input[0].partial: not supported"},
           {R"("input":"q","previous_response_id":"resp_x")",
            "previous_response_id: no such response"},
           {R"("input":"q","background":true)",
            "background: expected false or nothing, found true ("},
           {R"("input":"q","conversation":"c")", "conversation: expected nothing"},
           {R"("input":"q","prompt":{"id":"p"})", "prompt: expected nothing"},
           {R"("input":"q","messages":[])",
            "messages: expected nothing, found an array (not a field of this route: say `input`)"},
           {R"("input":"q","max_tokens":5)", "max_tokens: expected nothing, found 5 (not a field"},
           {R"("input":"q","n":2)", "n: expected 1 or nothing, found 2 (a response is one answer"},
           {R"("input":"q","max_output_tokens":0)", "max_output_tokens: expected an integer"},
           {R"("input":"q","reasoning":{"effort":"fast"})", "reasoning.effort: expected"},
           {R"("input":"q","truncation":"some")", "truncation: expected"},
           {R"("input":"q","include":["all"])", "include[0]: expected"},
           {R"("input":"q","tools":[{"type":"web_search"}])", "tools[0].type: expected"},
           {R"("input":"q","tools":[{"type":"custom","name":"p"}])", "tools[0].type: expected"},
           {R"("input":"q","tools":[{"type":"function","function":{"name":"f"}}])",
            "tools[0].name: expected a name, found nothing"},
           {R"("input":"q","tool_choice":{"type":"function","name":"f"})",
            "tool_choice.name: expected the name of a declared tool"},
           {R"("input":"q","tool_choice":{"type":"web_search"})", "tool_choice.type: expected"},
           {R"("input":"q","text":{"format":{"type":"json_schema","schema":{}}})",
            "text.format.name: expected a name"},
           {R"("input":"q","text":{"format":{"type":"grammar"}})", "text.format.type: expected"},
           {R"("input":"q","metadata":{"a":1})", "metadata.a: expected a string"},
           {R"("input":"q","input":"r")", "input: key given more than once"}}) {
    EXPECT_TRUE(error_of("{" + std::string(one.json) + "}").starts_with(one.message))
        << error_of("{" + std::string(one.json) + "}");
  }
}

TEST(ResponsesRequest, ErrorsOfTheConversationNameTheItem) {
  const auto request = parse(R"({"instructions":"s","input":[{"role":"user","content":"q"},)"
                             R"({"type":"function_call_output","call_id":"zz","output":"r"}]})");
  ASSERT_TRUE(request);
  const auto prompt = render_segments(request->chat);
  ASSERT_FALSE(prompt);
  EXPECT_TRUE(in_responses_terms(prompt.error().message, *request)
                  .starts_with("input[1].call_id: 'zz' is not found"))
      << prompt.error().message;
  EXPECT_EQ(in_responses_terms("messages[0].content: x", *request), "instructions.content: x");
  EXPECT_EQ(in_responses_terms("messages: too long", *request), "input: too long");
}

TEST(ResponsesRequest, BoundsOfMetadataAndOfTheConversation) {
  const auto metadata = [](std::size_t pairs, std::size_t key, std::size_t value) {
    std::string out = R"({"input":"q","metadata":{)";
    for (std::size_t i = 0; i < pairs; ++i) {
      std::string name = std::to_string(i) + std::string(key, 'k');
      name.resize(key);
      out += (i > 0 ? "," : "") + ("\"" + name) + "\":\"" + std::string(value, 'v') + "\"";
    }
    return parse(out + "}}");
  };
  EXPECT_TRUE(metadata(16, 64, 512));
  for (const auto& over : {metadata(17, 3, 1), metadata(1, 65, 1), metadata(1, 3, 513)}) {
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, Errc::kInvalidArgument);
  }
  ResponsesHistory history = no_history();
  history.conversation = [](std::string_view) -> Result<std::vector<ResponsesItemPtr>> {
    const auto item = std::make_shared<const ResponsesItem>(
        ResponsesItem{.id = "a", .body = R"({"type":"message","role":"user","content":"x"})"});
    return std::vector<ResponsesItemPtr>{item, item};
  };
  const std::string body =
      R"({"input":[{"role":"user","content":"q"}],"previous_response_id":"r"})";
  EXPECT_EQ(parse_responses_request(body, history, {.max_messages = 3})->chat.messages.size(), 3U);
  EXPECT_EQ(parse_responses_request(body, history, {.max_messages = 2}).error().code,
            Errc::kInvalidArgument);
}

TEST(ResponsesRequest, KeptItemsAreOnOneLineWithTextAsParts) {
  const std::string json = "{\"role\": \"user\",\n \"id\":\"x\", \"content\": \"a \\\" b\"}";
  const auto tree = parse_json_tree(json);
  const ResponsesItem kept = kept_item(Field(*tree, ""));
  EXPECT_EQ(kept.id, "x");
  EXPECT_EQ(kept.body, R"({"type":"message","role":"user","content":)"
                       R"([{"type":"input_text","text":"a \" b"}]})");
  std::string minified;
  append_minified(minified, "{ \"a\\\\\" : [ 1.50 ,\t\"x y\\\" \" ]\n}");
  EXPECT_EQ(minified, R"({"a\\":[1.50,"x y\" "]})");
}

}  // namespace
}  // namespace daybreak::chat
