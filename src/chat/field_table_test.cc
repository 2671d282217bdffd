// SPDX-License-Identifier: Apache-2.0
#include "chat/field_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "chat/chat_request.h"
#include "chat/responses_item.h"
#include "chat/responses_request.h"

namespace daybreak::chat {
namespace {

const std::string kMessages = R"("messages":[{"role":"user","content":"hi"}])";
constexpr const char* kTool = R"("tools":[{"type":"function","function":{"name":"f"}}])";

std::string body_of(const std::string& fields) {
  return fields.starts_with('{') ? fields
                                 : "{" + kMessages + (fields.empty() ? "" : ",") + fields + "}";
}

// Everything a request means, as text; only for comparing.
std::string show(const ChatRequest& r) {
  std::string out;
  const auto add = [&out](const auto&... values) {
    const auto one = [&out](const auto& value) {
      if constexpr (std::is_convertible_v<decltype(value), std::string_view>) {
        out += std::string(value) + ";";
      } else {
        out += std::to_string(value) + ";";
      }
    };
    (one(values), ...);
  };
  add(r.model, r.messages.size(), r.tools.size(), r.thinking.enabled,
      static_cast<int>(r.thinking.effort.value_or(Effort::kMax)),
      static_cast<int>(r.tool_choice.kind), r.parallel_tool_calls,
      static_cast<int>(r.response_format.kind), static_cast<int>(r.output.kind), r.output.source,
      r.n, r.stream, r.include_usage, r.include_internal_content, r.add_generation_prompt, r.user,
      r.safety_identifier, r.prompt_cache_key, r.cache_salt, r.deferral);
  const SamplingOptions& s = r.sampling;
  add(s.temperature, s.top_p, s.top_k, s.min_p, s.typical_p, s.repetition_penalty,
      s.presence_penalty, s.frequency_penalty, s.logit_bias.size(), s.seed.value_or(0), s.logprobs,
      s.top_logprobs, s.max_tokens.value_or(0), s.max_tokens_field, s.min_tokens, s.stop.size(),
      s.stop_token_ids.size(), s.ignore_eos, s.allowed_token_ids.size(), s.bad_words.size());
  for (const Message& message : r.messages) {
    add(message.partial, message.tools.size(), message.content.size());
  }
  return out;
}

// What parsing makes of the fields: all of the request, or the error.
std::string parsed(const std::string& fields) {
  const auto request = parse_chat_request(body_of(fields));
  return request ? show(*request) : request.error().message;
}

// One request per honoured field that means something else than the same request without it, or is
// refused because of it.
const std::map<std::string, std::string>& examples() {
  static const std::map<std::string, std::string> map = {
      {"messages", R"({"messages":[{"role":"user"},{"role":"user"}]})"},
      {"messages[].partial", R"({"messages":[{"role":"assistant","content":"x","partial":true}]})"},
      {"messages[].tools",
       R"({"messages":[{"role":"system","tools":[{"type":"function","function":{"name":"f"}}]}]})"},
      {"model", R"("model":"m")"},
      {"tools", kTool},
      {"tool_choice", R"("tool_choice":"none")"},
      {"parallel_tool_calls", R"("parallel_tool_calls":false)"},
      {"continue_final_message",
       R"({"messages":[{"role":"assistant","content":"x"}],"continue_final_message":true})"},
      {"add_generation_prompt", R"("add_generation_prompt":false)"},
      {"thinking", R"("thinking":false)"},
      {"thinking.type", R"("thinking":{"type":"disabled"})"},
      {"thinking.effort", R"("thinking":{"effort":"low"})"},
      {"thinking.keep", R"("thinking":{"keep":"last"})"},
      {"reasoning_effort", R"("reasoning_effort":"low")"},
      {"chat_template_kwargs", R"("chat_template_kwargs":1)"},
      {"chat_template_kwargs.thinking", R"("chat_template_kwargs":{"thinking":false})"},
      {"chat_template_kwargs.enable_thinking",
       R"("chat_template_kwargs":{"enable_thinking":false})"},
      {"chat_template_kwargs.thinking_effort",
       R"("chat_template_kwargs":{"thinking_effort":"low"})"},
      {"chat_template_kwargs.reasoning_effort",
       R"("chat_template_kwargs":{"reasoning_effort":"low"})"},
      {"response_format", R"("response_format":{"type":"json_object"})"},
      {"structured_outputs", R"("structured_outputs":{"regex":"a"})"},
      {"guided_json", R"("guided_json":{})"},
      {"guided_regex", R"("guided_regex":"a")"},
      {"guided_choice", R"("guided_choice":["a"])"},
      {"guided_grammar", R"("guided_grammar":"root ::= \"a\"")"},
      {"guided_json_object", R"("guided_json_object":true)"},
      {"temperature", R"("temperature":0.5)"},
      {"top_p", R"("top_p":0.5)"},
      {"top_k", R"("top_k":5)"},
      {"min_p", R"("min_p":0.5)"},
      {"typical_p", R"("typical_p":0.5)"},
      {"repetition_penalty", R"("repetition_penalty":1.5)"},
      {"presence_penalty", R"("presence_penalty":0.5)"},
      {"frequency_penalty", R"("frequency_penalty":0.5)"},
      {"logit_bias", R"("logit_bias":{"1":1})"},
      {"allowed_token_ids", R"("allowed_token_ids":[1])"},
      {"bad_words", R"("bad_words":["a"])"},
      {"seed", R"("seed":7)"},
      {"n", R"("n":2)"},
      {"max_tokens", R"("max_tokens":5)"},
      {"max_completion_tokens", R"("max_completion_tokens":5)"},
      {"min_tokens", R"("min_tokens":5)"},
      {"stop", R"("stop":"a")"},
      {"stop_token_ids", R"("stop_token_ids":[1])"},
      {"ignore_eos", R"("ignore_eos":true)"},
      {"stream", R"("stream":true)"},
      {"stream_options", R"("stream_options":1)"},
      {"stream_options.include_usage", R"("stream_options":{"include_usage":false})"},
      {"stream_options.include_internal_content",
       R"("stream_options":{"include_internal_content":true})"},
      {"logprobs", R"("logprobs":true)"},
      {"top_logprobs", R"("top_logprobs":1)"},
      {"user", R"("user":"u")"},
      {"safety_identifier", R"("safety_identifier":"u")"},
      {"prompt_cache_key", R"("prompt_cache_key":"u")"},
      {"cache_salt", R"("cache_salt":"u")"},
      {"priority", R"("priority":2)"},
      {"service_tier", R"("service_tier":"flex")"},
  };
  return map;
}

TEST(FieldTable, NamesAreDistinctAndFound) {
  for (const FieldTable* table : {&chat_fields(), &completion_fields(), &responses_fields(),
                                  &anthropic_fields(), &tokenize_fields(), &detokenize_fields()}) {
    std::set<std::string_view> names;
    for (const FieldRule& rule : table->rules()) {
      EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
      EXPECT_EQ(table->find(rule.name), &rule);
      EXPECT_FALSE(rule.text.empty());
      EXPECT_EQ(rule.text.find('|'), std::string_view::npos) << "breaks the table: " << rule.name;
    }
    EXPECT_EQ(table->find("nothing"), nullptr);
    EXPECT_EQ(table->find(""), nullptr);
  }
}

TEST(FieldTable, EveryHonouredFieldHasAnEffect) {
  for (const FieldRule& rule : chat_fields().rules()) {
    if (rule.verdict != FieldVerdict::kHonoured) {
      continue;
    }
    const auto example = examples().find(std::string(rule.name));
    ASSERT_NE(example, examples().end()) << "no example of " << rule.name;
    EXPECT_NE(parsed(example->second), parsed("")) << rule.name;
    const auto request = parse_chat_request(body_of(example->second));
    EXPECT_TRUE(!request || request->ignored_fields.empty()) << rule.name;
  }
  for (const auto& [name, example] : examples()) {
    const FieldRule* rule = chat_fields().find(name);
    EXPECT_TRUE(rule != nullptr && rule->verdict == FieldVerdict::kHonoured) << name;
  }
}

// A value of no use for any field is refused where it is read, and named.
TEST(FieldTable, EveryHonouredFieldIsChecked) {
  for (const FieldRule& rule : chat_fields().rules()) {
    const std::string name(rule.name);
    if (rule.verdict != FieldVerdict::kHonoured || name.starts_with("messages[]")) {
      continue;
    }
    const std::size_t dot = name.find('.');
    const std::string value = "[{}]";
    const std::string fields =
        dot == std::string::npos
            ? "\"" + name + "\":" + value
            : "\"" + name.substr(0, dot) + "\":{\"" + name.substr(dot + 1) + "\":" + value + "}";
    const auto request =
        parse_chat_request(name == "messages" ? "{" + fields + "}" : body_of(fields));
    ASSERT_FALSE(request) << fields;
    EXPECT_TRUE(request.error().message.starts_with(name)) << request.error().message;
  }
}

// A request with `value` where the rule's name says.
std::string at(const FieldRule& rule, const std::string& value) {
  const std::string name(rule.name);
  if (name.starts_with("messages[].")) {
    return R"({"messages":[{"role":"user"},{"role":"assistant","content":"x",")" + name.substr(11) +
           "\":" + value + "}]}";
  }
  const std::size_t dot = name.find('.');
  return body_of(dot == std::string::npos ? "\"" + name + "\":" + value
                                          : "\"" + name.substr(0, dot) + "\":{\"" +
                                                name.substr(dot + 1) + "\":" + value + "}");
}

TEST(FieldTable, EveryRefusedFieldIsRefusedByNameUnlessItAsksForNothing) {
  for (const FieldRule& rule : chat_fields().rules()) {
    if (rule.verdict != FieldVerdict::kRefused) {
      continue;
    }
    for (const std::string value : {"\"x\"", "-1", "[1]", "{\"a\":1}",
                                    "[{\"a\":\""
                                    "bcdefghijklmnopqrstuvwxyzabcdefgh\"}]"}) {
      const auto request = parse_chat_request(at(rule, value));
      ASSERT_FALSE(request) << at(rule, value);
      EXPECT_EQ(request.error().code, Errc::kInvalidArgument);
      std::string path(rule.name);
      path.replace(0, path.starts_with("messages[]") ? 10 : 0,
                   path.starts_with("messages[]") ? "messages[1]" : "");
      EXPECT_TRUE(request.error().message.starts_with(path + ": expected "))
          << request.error().message;
      EXPECT_NE(request.error().message.find(", found "), std::string::npos);
      EXPECT_NE(request.error().message.find(rule.text), std::string::npos);
    }
    std::vector<std::string_view> fine = rule.neutral_values();
    fine.emplace_back("null");
    for (const std::string_view value : fine) {
      const auto request = parse_chat_request(at(rule, std::string(value)));
      ASSERT_TRUE(request) << rule.name << value << request.error().message;
      EXPECT_TRUE(request->ignored_fields.empty()) << rule.name << value;
    }
  }
}

TEST(FieldTable, EveryIgnoredFieldIsListedUnlessItAsksForNothing) {
  for (const FieldRule& rule : chat_fields().rules()) {
    if (rule.verdict != FieldVerdict::kIgnored) {
      continue;
    }
    // One that says nothing here must say it right all the same.
    const std::string said = rule.name == "verbosity" ? "\"low\"" : "\"x\"";
    const auto request = parse_chat_request(at(rule, said));
    ASSERT_TRUE(request) << rule.name;
    EXPECT_EQ(request->ignored_fields, (std::vector<std::string>{std::string(rule.name)}));
    std::vector<std::string_view> quiet = rule.neutral_values();
    quiet.emplace_back("null");
    for (const std::string_view value : quiet) {
      EXPECT_TRUE(parse_chat_request(at(rule, std::string(value)))->ignored_fields.empty())
          << rule.name;
    }
  }
}

TEST(FieldTable, VerbosityIsIgnoredOnBothRoutesAndCheckedOnBoth) {
  const auto ask = [](const std::string& value) {
    const auto chat = parse_chat_request(body_of("\"verbosity\":" + value));
    const auto responses = parse_responses_request(
        R"({"input":"q","text":{"verbosity":)" + value + "}}", ResponsesHistory());
    return std::pair(
        chat ? chat->ignored_fields : std::vector{chat.error().message},
        responses ? responses->chat.ignored_fields : std::vector{responses.error().message});
  };
  using Both = std::pair<std::vector<std::string>, std::vector<std::string>>;
  EXPECT_EQ(ask("\"low\""), Both({"verbosity"}, {"text.verbosity"}));
  EXPECT_EQ(ask("\"high\""), Both({"verbosity"}, {"text.verbosity"}));
  EXPECT_EQ(ask("\"medium\""), Both());
  EXPECT_EQ(ask("null"), Both());
  for (const std::string value : {"\"mid\"", "\"\"", "2", "true"}) {
    const std::string fault = "verbosity: expected \"low\", \"medium\" or \"high\", found " + value;
    EXPECT_EQ(ask(value), Both({fault}, {"text." + fault}));
  }
  EXPECT_TRUE(ask("[\"low\"]").first.front().ends_with("found an array"));
}

// A field that changes a chat answer would change theirs.
TEST(FieldTable, WhatChatRefusesIsUnknownToNoOtherRouteOfItsKind) {
  for (const FieldTable* table : {&completion_fields(), &responses_fields()}) {
    for (const FieldRule& rule : chat_fields().rules()) {
      if (rule.verdict == FieldVerdict::kRefused && rule.top_level()) {
        const FieldRule* found = table->find(rule.name);
        ASSERT_NE(found, nullptr) << rule.name;
        EXPECT_NE(found->verdict, FieldVerdict::kIgnored) << rule.name;
      }
    }
    for (const char* name : {"regex", "lora_path", "max_completion_tokens"}) {
      ASSERT_NE(table->find(name), nullptr) << name;
      EXPECT_EQ(table->find(name)->verdict, FieldVerdict::kRefused) << name;
    }
  }
  EXPECT_EQ(completion_fields().find("echo")->verdict, FieldVerdict::kHonoured) << "its own";
  EXPECT_EQ(tokenize_fields().find("regex"), nullptr);
}

TEST(FieldTable, NeutralValuesAreValuesNotSpellings) {
  EXPECT_TRUE(
      parse_chat_request(body_of(R"("best_of":1.0,"modalities":[ "text" ],"documents":[ ])")));
  EXPECT_FALSE(parse_chat_request(body_of(R"("best_of":"1")")));
  EXPECT_FALSE(parse_chat_request(body_of(R"("echo":0)")));
  EXPECT_FALSE(parse_chat_request(body_of(R"("modalities":["text","audio"])")));
}

}  // namespace
}  // namespace daybreak::chat
