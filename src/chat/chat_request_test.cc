// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_request.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace daybreak::chat {
namespace {

constexpr const char* kHi = R"("messages":[{"role":"user","content":"hi"}])";
constexpr const char* kTool = R"({"type":"function","function":{"name":"f"}})";

// A request with `rest` beside a message.
std::string with(const std::string& rest) {
  return "{" + std::string(kHi) + (rest.empty() ? "" : "," + rest) + "}";
}
std::string messages(const std::string& list) { return "{\"messages\":[" + list + "]}"; }

ChatRequest parsed(const std::string& json) {
  auto request = parse_chat_request(json);
  EXPECT_TRUE(request) << json << "\n" << (request ? "" : request.error().message);
  return request ? *std::move(request) : ChatRequest{};
}

std::string refused(const std::string& json, const ChatLimits& limits = {}) {
  const auto request = parse_chat_request(json, limits);
  return request ? "accepted" : request.error().message;
}

TEST(ChatRequest, DefaultsAreTheServedOnes) {
  const ChatRequest request = parsed(with(""));
  EXPECT_EQ(request.sampling.temperature, 1.0);
  EXPECT_EQ(request.sampling.top_p, 0.95);
  EXPECT_FALSE(request.sampling.max_tokens);
  EXPECT_FALSE(request.sampling.seed);
  EXPECT_EQ(request.n, 1U);
  EXPECT_TRUE(request.thinking.enabled);
  EXPECT_EQ(request.thinking.effort, Effort::kMax);
  EXPECT_TRUE(request.include_usage);
  EXPECT_TRUE(request.parallel_tool_calls);
  EXPECT_FALSE(request.tools_allowed());
  EXPECT_EQ(request.output.kind, OutputForm::Kind::kText);
}

TEST(ChatRequest, ReadsEveryField) {
  const ChatRequest request = parsed(with(
      R"("model":"m","temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.1,"typical_p":0.8,
      "repetition_penalty":1.1,"presence_penalty":-2,"frequency_penalty":2,"logit_bias":{"7":-100,"8":1.5},
      "seed":-1,"logprobs":true,"top_logprobs":20,"max_tokens":5,"max_completion_tokens":9,"min_tokens":3,
      "stop":["a","b"],"stop_token_ids":[1,2],"ignore_eos":true,"n":8,"stream":true,
      "stream_options":{"include_usage":false},"user":"u","prompt_cache_key":"k","parallel_tool_calls":false,
      "add_generation_prompt":false,"safety_identifier":"i","cache_salt":"s","allowed_token_ids":[5,6],
      "bad_words":["x"," y"])"));
  const SamplingOptions& s = request.sampling;
  EXPECT_EQ(s.temperature, 0.5);
  EXPECT_EQ(s.top_k, 40U);
  EXPECT_EQ(s.min_p, 0.1);
  EXPECT_EQ(s.typical_p, 0.8);
  EXPECT_EQ(s.repetition_penalty, 1.1);
  EXPECT_EQ(s.presence_penalty, -2);
  EXPECT_EQ(s.frequency_penalty, 2);
  EXPECT_EQ(s.logit_bias, (std::vector<std::pair<TokenId, float>>{{7, -100.0F}, {8, 1.5F}}));
  EXPECT_EQ(s.seed, std::uint64_t(-1));
  EXPECT_EQ(s.top_logprobs, 20U);
  EXPECT_EQ(s.max_tokens, 9U) << "max_completion_tokens wins";
  EXPECT_EQ(s.min_tokens, 3U);
  EXPECT_EQ(s.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s.stop_token_ids, (std::vector<TokenId>{1, 2}));
  EXPECT_TRUE(s.ignore_eos && request.stream && s.logprobs);
  EXPECT_EQ(request.n, 8U);
  EXPECT_FALSE(request.include_usage || request.parallel_tool_calls ||
               request.add_generation_prompt);
  EXPECT_EQ(request.model + request.user + request.prompt_cache_key + request.safety_identifier +
                request.cache_salt,
            "mukis");
  EXPECT_EQ(s.allowed_token_ids, (std::vector<TokenId>{5, 6}));
  EXPECT_EQ(s.bad_words, (std::vector<std::string>{"x", " y"}));
}

TEST(ChatRequest, NullIsAbsent) {
  const ChatRequest request = parsed(with(
      R"("temperature":null,"tools":null,"tool_choice":null,"stop":null,"response_format":null,"thinking":null,
      "reasoning_effort":null,"stream_options":null,"max_tokens":null,"logit_bias":null,"n":null)"));
  EXPECT_EQ(request.sampling.temperature, 1.0);
  EXPECT_TRUE(request.ignored_fields.empty());
}

TEST(ChatRequest, UnknownFieldsAreListedNotRefused) {
  const ChatRequest request =
      parsed(with(R"("store":true,"metadata":{"a":1},"what":{},"nothing":null,
              "stream_options":{"x":1},"thinking":{"budget_tokens":9},"chat_template_kwargs":{"x":1})"));
  EXPECT_EQ(request.ignored_fields,
            (std::vector<std::string>{"store", "metadata", "what", "chat_template_kwargs.x",
                                      "thinking.budget_tokens", "stream_options.x"}));
}

TEST(ChatRequest, ListOfUnknownFieldsIsBounded) {
  std::string fields = "\"" + std::string(1'000, 'a') + "\":1";
  for (int i = 0; i < 1'000; ++i) {
    fields += ",\"x" + std::to_string(i) + "\":1";
  }
  const ChatRequest request = parsed(with(fields));
  EXPECT_EQ(request.ignored_fields.size(), 32U);
  EXPECT_LT(request.ignored_fields[0].size(), 100U);
}

TEST(ChatRequest, FinalMessageCanBeContinuedInVllmsWords) {
  const std::string tail = R"({"role":"user"},{"role":"assistant","content":"Sure,"})";
  const auto with_fields = [&](const std::string& fields) {
    return "{\"messages\":[" + tail + "]," + fields + "}";
  };
  const ChatRequest request =
      parsed(with_fields(R"("continue_final_message":true,"add_generation_prompt":false)"));
  EXPECT_TRUE(request.messages[1].partial);
  EXPECT_TRUE(request.add_generation_prompt);
  EXPECT_TRUE(parsed(with_fields(R"("continue_final_message":true)")).messages[1].partial);
  EXPECT_FALSE(parsed(with_fields(R"("continue_final_message":false)")).messages[1].partial);
  EXPECT_EQ(refused(with_fields(R"("continue_final_message":true,"add_generation_prompt":true)")),
            "continue_final_message: cannot be combined with \"add_generation_prompt\": true");
  EXPECT_EQ(refused(with(R"("continue_final_message":true)")),
            "continue_final_message: expected an assistant message without tool_calls at the end, "
            "found none");
}

TEST(ChatRequest, RefusesNamingTheFieldWhatWasExpectedAndFound) {
  struct Case {
    std::string json;
    const char* message;
  };
  const std::string tool = kTool;
  const std::array cases = {
      Case{"[]", "request body: expected an object, found an array"},
      Case{"{}", "messages: expected an array, found nothing"},
      Case{R"({"messages":[]})", "messages: expected at least one message, found none"},
      Case{R"({"messages":{}})", "messages: expected an array, found an object"},
      Case{with(R"("n":1,"n":2)"), "n: key given more than once"},
      Case{messages(R"({"role":"user","role":"user","content":""})"),
           "messages[0].role: key given more than once"},
      Case{with(R"("temperature":2.1)"), "temperature: expected a number from 0 to 2, found 2.1"},
      Case{with(R"("temperature":"1")"), "temperature: expected a number from 0 to 2, found \"1\""},
      Case{with(R"("temperature":-0.1)"), "temperature: expected a number from 0 to 2, found -0.1"},
      Case{with(R"("temperature":1e999)"),
           "temperature: expected a number from 0 to 2, found 1e999"},
      Case{with(R"("top_p":0)"), "top_p: expected a number above 0 and at most 1, found 0"},
      Case{with(R"("top_p":1.01)"), "top_p: expected a number from 0 to 1, found 1.01"},
      Case{with(R"("n":0)"), "n: expected an integer from 1 to 8, found 0"},
      Case{with(R"("n":9)"), "n: expected an integer from 1 to 8, found 9"},
      Case{with(R"("n":1.0)"), "n: expected an integer from 1 to 8, found 1.0"},
      Case{with(R"("presence_penalty":2.5)"),
           "presence_penalty: expected a number from -2 to 2, found 2.5"},
      Case{with(R"("top_logprobs":21,"logprobs":true)"),
           "top_logprobs: expected an integer from 0 to 20, found 21"},
      Case{with(R"("top_logprobs":1)"),
           "top_logprobs: expected \"logprobs\": true beside it, found it absent or false"},
      Case{with(R"("max_tokens":0)"),
           "max_tokens: expected an integer from 1 to 4294967296, found 0"},
      Case{with(R"("min_tokens":3,"max_tokens":2)"),
           "min_tokens: expected at most the completion limit of 2, found 3"},
      Case{with(R"("seed":1.5)"), "seed: expected an integer of 64 bits, found 1.5"},
      Case{with(R"("seed":9223372036854775808)"),
           "seed: expected an integer of 64 bits, found 9223372036854775808"},
      Case{with(R"("stop":"")"), "stop: expected a string that is not empty, found \"\""},
      Case{with(R"("stop":[1])"), "stop[0]: expected a string, found 1"},
      Case{with(R"("stop":1)"), "stop: expected a string or an array of strings, found 1"},
      Case{with(R"("repetition_penalty":10.5)"),
           "repetition_penalty: expected a number from 0.01 to 10, found 10.5"},
      Case{with(R"("allowed_token_ids":[])"),
           "allowed_token_ids: expected at least one token id, found none"},
      Case{with(R"("allowed_token_ids":[-1])"),
           "allowed_token_ids[0]: expected an integer from 0 to 4294967295, found -1"},
      Case{with(R"("bad_words":"x")"), "bad_words: expected an array, found \"x\""},
      Case{with(R"("bad_words":["a","  "])"),
           "bad_words[1]: expected a string that is more than spaces, found \"  \""},
      Case{with(R"("cache_salt":"")"),
           "cache_salt: expected a string that is not empty, found \"\""},
      Case{with(R"("logit_bias":{"x":1})"),
           "logit_bias: expected token ids from 0 to 4294967295 as keys, found 'x'"},
      Case{with(R"("logit_bias":{"1":101})"),
           "logit_bias.1: expected a number from -100 to 100, found 101"},
      Case{with(R"("stream":1)"), "stream: expected true or false, found 1"},
      Case{with(R"("tool_choice":"maybe","tools":[)" + tool + "]"),
           "tool_choice: expected \"auto\", \"none\", \"required\" or "
           "{\"type\":\"function\",\"function\":{\"name\":...}}, found \"maybe\""},
      Case{with(R"("tool_choice":"required")"),
           "tool_choice: expected a declared tool for \"required\", found none"},
      Case{with(R"("tool_choice":"required","tools":[])"),
           "tool_choice: expected a declared tool for \"required\", found none"},
      Case{with(R"("tool_choice":{"type":"function","function":{"name":"g"}},"tools":[)" + tool +
                "]"),
           "tool_choice.function.name: expected the name of a declared tool, found \"g\""},
      Case{with(R"("tools":{})"), "tools: expected an array, found an object"},
      Case{with(R"("tools":[1])"), "tools[0]: expected an object, found 1"},
      Case{with(R"("tools":[{}])"), "tools[0].type: expected \"function\", found nothing"},
      Case{with(R"("tools":[{"type":"retrieval"}])"),
           "tools[0].type: expected \"function\", found \"retrieval\""},
      Case{with(R"("tools":[{"type":"function"}])"),
           "tools[0].function: expected an object, found nothing"},
      Case{with(R"("tools":[{"type":"function","function":{}}])"),
           "tools[0].function.name: expected a name, found nothing"},
      Case{with(R"("tools":[{"type":"function","function":{"name":"a b"}}])"),
           "tools[0].function.name: expected a name of the form [A-Za-z0-9_./:-]{1,256}, "
           "found \"a b\""},
      Case{with(R"("tools":[{"type":"function","function":{"name":"f","parameters":[]}}])"),
           "tools[0].function.parameters: expected a JSON Schema object, found an array"},
      Case{with(R"("tools":[{"type":"function","function":{"name":"f","strict":1}}])"),
           "tools[0].function.strict: expected true or false, found 1"},
      Case{
          with("\"tools\":[" + tool + "," + tool + "]"),
          "tools[1].function.name: expected a name of its own for every tool, found 'f' once more"},
      Case{"{\"tools\":[" + tool + "]," + R"("messages":[{"role":"system","tools":[)" + tool +
               "]}]}",
           "messages[0].tools[0].function.name: expected a name of its own for every tool, found "
           "'f' once more"},
      Case{messages(R"({"role":"user","content":"","tools":[]})"),
           "messages[0].tools: expected tools in system messages only, found them in one of role "
           "\"user\""},
      Case{messages(R"({"role":"system","content":"x","tools":[)" + tool + "]}"),
           "messages[0].tools: expected content or tools in a system message, found both"},
      Case{messages(R"({"role":"robot"})"),
           "messages[0].role: expected \"system\", \"developer\", \"user\", \"assistant\" or "
           "\"tool\", found \"robot\""},
      Case{messages("{}"),
           "messages[0].role: expected \"system\", \"developer\", \"user\", \"assistant\" or "
           "\"tool\", found nothing"},
      Case{messages(R"({"role":"tool","content":""})"),
           "messages[0].tool_call_id: expected the id of the call this answers, found nothing"},
      Case{messages(R"({"role":"tool","tool_call_id":"","content":""})"),
           "messages[0].tool_call_id: expected the id of the call this answers, found nothing"},
      Case{messages(R"({"role":"user","content":1})"),
           "messages[0].content: expected a string or an array of parts, found 1"},
      Case{messages(R"({"role":"user","content":[{"type":"video_url"}]})"),
           "messages[0].content[0].type: expected \"text\" or \"image_url\", found \"video_url\""},
      Case{messages(R"({"role":"user","content":[{"type":"text"}]})"),
           "messages[0].content[0].text: expected a string, found nothing"},
      Case{messages(R"({"role":"assistant","partial":true},{"role":"user","content":"x"})"),
           "messages[0].partial: expected true in the last message only, found it before"},
      Case{messages(R"({"role":"user","content":"x","partial":true})"),
           "messages[0].partial: expected true in an assistant message only, found it in one of "
           "role \"user\""},
      Case{messages(
               R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":1}}]})"),
           "messages[0].tool_calls[0].function.arguments: expected a string of JSON, or an object, "
           "found 1"},
      Case{messages(R"({"role":"assistant","tool_calls":[{"function":{}}]})"),
           "messages[0].tool_calls[0].function.name: expected a name, found nothing"},
      Case{with(R"("response_format":{"type":"xml"})"),
           "response_format.type: expected \"text\", \"json_object\" or \"json_schema\", found "
           "\"xml\""},
      Case{with(R"("response_format":{"type":"json_object","schema":{"type":"object"}})"),
           "response_format.schema: a schema is not used with \"json_object\"; ask for "
           "\"json_schema\""},
      Case{with(R"("response_format":{"type":"json_schema"})"),
           "response_format.json_schema: expected an object, found nothing"},
      Case{with(R"("response_format":{"type":"json_schema","json_schema":{"schema":{}}})"),
           "response_format.json_schema.name: expected a name, found nothing"},
      Case{with(R"("response_format":{"type":"json_schema","json_schema":{"name":"n"}})"),
           "response_format.json_schema.schema: expected a JSON Schema object, found nothing"},
      Case{
          with(
              R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":[]}})"),
          "response_format.json_schema.schema: expected a JSON Schema object, found an array"},
      Case{
          with(
              R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{},"strict":0}})"),
          "response_format.json_schema.strict: expected true or false, found 0"},
      Case{with(R"("reasoning_effort":"fast")"),
           "reasoning_effort: expected \"none\", \"minimal\", \"low\", \"medium\", \"high\", "
           "\"xhigh\" or \"max\", found \"fast\""},
      Case{with(R"("thinking":{"type":"maybe"})"),
           "thinking.type: expected \"enabled\" or \"disabled\", found \"maybe\""},
      Case{with(R"("thinking":{"keep":"last"})"),
           "thinking.keep: expected \"all\", found \"last\""},
      Case{with(R"("chat_template_kwargs":{"thinking_effort":"medium"})"),
           "chat_template_kwargs.thinking_effort: expected \"low\", \"high\" or \"max\", found "
           "\"medium\""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(refused(c.json), c.message) << c.json;
  }
}

TEST(ChatRequest, RefusesWhatIsNotOneJsonTextInUtf8) {
  EXPECT_EQ(refused("{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}"),
            "messages[0].content: not valid JSON: lone surrogate \\ud800 at byte 39");
  EXPECT_EQ(refused("{\"messages\":\"\xFF\"}"), "not valid JSON: invalid UTF-8 at byte 13");
  EXPECT_EQ(refused(with("") + "x").substr(0, 14), "not valid JSON");
  EXPECT_NE(refused(with("\"x\":" + std::string(64, '[') + std::string(64, ']')))
                .find("nested deeper than 64 levels"),
            std::string::npos);
  EXPECT_EQ(refused(with("\"x\":" + std::string(63, '[') + std::string(63, ']'))), "accepted");
}

TEST(ChatRequest, AcceptsHistoriesAsClientsSendThem) {
  const ChatRequest request = parsed(messages(
      R"({"role":"assistant","content":null,"reasoning_content":null,"refusal":null,"audio":null,
          "tool_calls":[{"id":"functions.x:0","type":"function","index":0,"function":{"name":"x","arguments":{"a" : 1}}},
                        {"function":{"name":"y","arguments":null}},{"id":"d","function":{"name":"y"}}]},
         {"role":"tool","id":"functions.x:0","content":[{"type":"text","text":"r"}]},
         {"role":"assistant","content":"","reasoning_content":"","reasoning":"why"},
         {"role":"assistant","content":""},
         {"role":"user"})"));
  ASSERT_EQ(request.messages.size(), 5U);
  EXPECT_EQ(request.messages[0].tool_calls[0].arguments, R"({"a" : 1})");
  EXPECT_EQ(request.messages[0].tool_calls[1].arguments, "");
  EXPECT_EQ(request.messages[1].tool_call_id, "functions.x:0");
  EXPECT_EQ(request.messages[2].reasoning, "why");
  EXPECT_TRUE(request.messages[3].content.empty());
}

TEST(ChatRequest, ThinkingPrecedence) {
  struct Case {
    const char* fields;
    bool enabled;
    Effort effort;
  };
  const std::array cases = {
      Case{R"("reasoning_effort":"low")", true, Effort::kLow},
      Case{R"("reasoning_effort":"none")", false, Effort::kMax},
      Case{R"("reasoning_effort":"low","thinking":{"type":"enabled","effort":"high"})", true,
           Effort::kHigh},
      Case{R"("reasoning_effort":"high","thinking":{"type":"enabled"})", true, Effort::kHigh},
      Case{R"("reasoning_effort":"none","thinking":{"type":"enabled"})", true, Effort::kMax},
      Case{R"("reasoning_effort":"high","thinking":{"type":"disabled"})", false, Effort::kHigh},
      Case{R"("reasoning_effort":"none","thinking":{"effort":"high"})", true, Effort::kHigh},
      Case{R"("thinking":false)", false, Effort::kMax},
      Case{R"("thinking":{"keep":"all","type":"enabled"})", true, Effort::kMax},
      Case{R"("chat_template_kwargs":{"thinking":false,"enable_thinking":true})", false,
           Effort::kMax},
      Case{R"("chat_template_kwargs":{"enable_thinking":false})", false, Effort::kMax},
      Case{R"("chat_template_kwargs":{"reasoning_effort":"low","thinking_effort":"high"})", true,
           Effort::kHigh},
      Case{R"("chat_template_kwargs":{"reasoning_effort":"none"})", false, Effort::kMax},
      Case{R"("chat_template_kwargs":{"reasoning_effort":"none","thinking_effort":"low"})", true,
           Effort::kLow},
      Case{R"("chat_template_kwargs":{"reasoning_effort":"none"},"reasoning_effort":"low")", false,
           Effort::kLow},
      Case{R"("reasoning_effort":"low","chat_template_kwargs":{"thinking_effort":"high"})", true,
           Effort::kHigh},
      Case{R"("thinking":{"type":"disabled"},"chat_template_kwargs":{"thinking":true})", true,
           Effort::kMax},
  };
  for (const Case& c : cases) {
    const ChatRequest request = parsed(with(c.fields));
    EXPECT_EQ(request.thinking.enabled, c.enabled) << c.fields;
    EXPECT_EQ(request.thinking.effort, c.effort) << c.fields;
  }
}

TEST(ChatRequest, ToolsAreAllowedUnlessNoneOrAbsent) {
  const std::string tools = std::string("\"tools\":[") + kTool + "]";
  EXPECT_TRUE(parsed(with(tools)).tools_allowed());
  EXPECT_FALSE(parsed(with(tools + R"(,"tool_choice":"none")")).tools_allowed());
  EXPECT_FALSE(parsed(with(R"("tool_choice":"auto")")).tools_allowed());
  const std::string dynamic = "{\"messages\":[{\"role\":\"system\",\"tools\":[" +
                              std::string(kTool) + "]}],\"tool_choice\":\"required\"}";
  EXPECT_TRUE(parsed(dynamic).tools_allowed()) << "dynamic tools count for required";
}

TEST(ChatRequest, ToolsKeepNullsAndStayWithoutWhatWasAbsent) {
  const ChatRequest request = parsed(with(
      R"("tools":[{"type":"function","function":{"strict":true,"name":"f","parameters":{"b":null,"a":1e2}}},)"
      R"({"function":{"name":"g","description":null},"type":"function"}])"));
  EXPECT_EQ(
      request.tools[0].json,
      R"({"function":{"name":"f","parameters":{"a":100.0,"b":null},"strict":true},"type":"function"})");
  EXPECT_EQ(request.tools[0].parameters, R"({"b":null,"a":1e2})");
  EXPECT_EQ(request.tools[0].strict, true);
  EXPECT_EQ(request.tools[1].json,
            R"({"function":{"description":null,"name":"g"},"type":"function"})");
  EXPECT_EQ(request.tools[1].parameters, "");
}

TEST(ChatRequest, SizeOfAnImageIsNeverTheClientsWord) {
  const std::string json = messages(
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"},"width":9,"height":9}]})");
  EXPECT_FALSE(parsed(json).messages[0].content[0].size);
  ChatLimits offline;
  offline.measured_images = true;
  const auto request = parse_chat_request(json, offline);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->messages[0].content[0].size->width, 9U);
}

// Each bound at the limit and one past it.
TEST(ChatRequest, BoundsHoldAtTheLimitAndNotPast) {
  ChatLimits limits;
  limits.max_messages = limits.max_parts = limits.max_tools = limits.max_tool_calls = 2;
  limits.max_name_bytes = limits.max_stop_strings = limits.max_stop_bytes = 2;
  limits.max_logit_bias = limits.max_stop_token_ids = limits.max_id_bytes = 2;
  limits.max_allowed_token_ids = limits.max_bad_words = limits.max_bad_word_bytes = 2;
  limits.vocab_size = 3;
  const auto list = [](const std::string& item, std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) {
      out += (i > 0 ? "," : "") + item;
    }
    return out;
  };
  const auto text = [](std::size_t n) { return "\"" + std::string(n, 'x') + "\""; };
  const auto tools = [](std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) {
      out += (i > 0 ? "," : "") +
             (R"({"type":"function","function":{"name":"f)" + std::to_string(i)) + "\"}}";
    }
    return out;
  };
  for (const std::size_t n : {2U, 3U}) {
    const std::string last = std::to_string(n);
    const std::array jsons = {
        messages(list(R"({"role":"user"})", n)),
        messages(R"({"role":"user","content":[)" + list(R"({"type":"text","text":""})", n) + "]}"),
        with("\"tools\":[" + tools(n) + "]"),
        messages(R"({"role":"assistant","tool_calls":[)" + list(R"({"function":{"name":"f"}})", n) +
                 "]}"),
        messages(R"({"role":"user","name":)" + text(n) + "}"),
        with("\"model\":" + text(n)),
        with("\"stop\":[" + list("\"a\"", n) + "]"),
        with("\"stop\":" + text(n)),
        with("\"logit_bias\":{" + std::string(n == 2 ? R"("0":1,"2":1)" : R"("0":1,"1":1,"2":1)") +
             "}"),
        with("\"logit_bias\":{\"" + last + "\":1}"),
        with("\"stop_token_ids\":[" + list("1", n) + "]"),
        with("\"stop_token_ids\":[" + last + "]"),
        with("\"allowed_token_ids\":[" + list("1", n) + "]"),
        with("\"allowed_token_ids\":[" + last + "]"),
        with("\"bad_words\":[" + list("\"a\"", n) + "]"),
        with("\"bad_words\":[" + text(n) + "]"),
        with("\"cache_salt\":" + text(n)),
        with("\"safety_identifier\":" + text(n)),
        with("\"user\":" + text(n)),
        with("\"prompt_cache_key\":" + text(n)),
        messages(R"({"role":"tool","tool_call_id":)" + text(n) + "}"),
    };
    for (const std::string& json : jsons) {
      EXPECT_EQ(refused(json, limits) == "accepted", n == 2) << json << refused(json, limits);
    }
  }
}

TEST(ChatRequest, OneMegabyteOfOneCharacterIsFine) {
  const ChatRequest request =
      parsed(messages(R"({"role":"user","content":")" + std::string(1'000'000, 'a') + "\"}"));
  EXPECT_EQ(request.messages[0].content[0].text.size(), 1'000'000U);
}

}  // namespace
}  // namespace daybreak::chat
