// SPDX-License-Identifier: Apache-2.0
// Requests that say what their answer must look like, from JSON to the parsed reply, over a model
// that would rather do something else.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "api/choice.h"
#include "chat/output_shapes.h"
#include "chat/request_grammar.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/grammar_constraint.h"

namespace daybreak::api {
namespace {

using engine::FinishReason;
using Json = nlohmann::ordered_json;

constexpr const char* kNoThinking = R"("thinking":{"type":"disabled"})";
constexpr const char* kTools =
    R"("tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object",
        "properties":{"city":{"type":"string","maxLength":8},"days":{"type":"integer","minimum":1,"maximum":9}},
        "required":["city"],"additionalProperties":false}}},
       {"type":"function","function":{"name":"other","parameters":{"type":"object",
        "properties":{},"additionalProperties":false}}}])";
constexpr const char* kSchema =
    R"({"type":"object","properties":{"name":{"type":"string","maxLength":6},
        "age":{"type":"integer","minimum":0,"maximum":120},"tags":{"type":"array","maxItems":2,
        "items":{"enum":["a","b"]}}},"required":["name","age"],"additionalProperties":false})";

// What a model wants: a number added to the logit of each ordinary token, by its bytes.
using Wish = std::function<float(std::string_view bytes)>;

float nothing(std::string_view) { return 0; }
float whitespace(std::string_view bytes) {
  return bytes.find_first_not_of(" \t\r\n") == std::string_view::npos ? 40.0F : 0.0F;
}
float long_strings(std::string_view bytes) {
  const bool inside = bytes.find_first_of("\"\\{}[],:") == std::string_view::npos;
  return inside ? 10.0F + static_cast<float>(std::min<std::size_t>(bytes.size(), 20)) : 0.0F;
}
float never_closing(std::string_view bytes) {
  return bytes.find_first_of("}]") != std::string_view::npos       ? -40.0F
         : bytes.find_first_of("{[\",0") != std::string_view::npos ? 20.0F
                                                                   : 0.0F;
}
float broken_text(std::string_view bytes) {  // quotes, escapes and pieces of characters
  const auto first = static_cast<unsigned char>(bytes.front());
  return first >= 0x80 || bytes.find_first_of("\"\\") != std::string_view::npos ? 25.0F : 0.0F;
}

struct Adversary {
  const char* name;
  Wish wish;
};
const std::vector<Adversary>& adversaries() {
  static const std::vector<Adversary> all = {{"nothing", nothing},
                                             {"whitespace", whitespace},
                                             {"long strings", long_strings},
                                             {"never closing", never_closing},
                                             {"broken text", broken_text}};
  return all;
}

struct Reply {
  FinishReason finish = FinishReason::kError;
  std::string error;
  chat::CompletionChoice choice;
};

class StructuredAnswer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    tokenizer_ = chat::shapes::load_tokenizer();
    vocabulary_ = grammar::VocabularyIndex::make(*tokenizer_, tokenizer_->vocab_size());
  }
  static void TearDownTestSuite() {
    vocabulary_.reset();
    tokenizer_.reset();
  }

  // `marker_wish` is added to the logits of special tokens.
  static Reply answer(const std::string& fields, const Wish& wish, float marker_wish,
                      std::uint64_t seed, std::size_t max_tokens = 300,
                      const std::string& messages = R"({"role":"user","content":"hi"})") {
    const std::string body = "{\"messages\":[" + messages + "]," + fields + "}";
    const auto request = chat::parse_chat_request(body);
    EXPECT_TRUE(request) << (request ? "" : request.error().message);
    const auto prompt = chat::render(*request, *tokenizer_);
    EXPECT_TRUE(prompt);
    const chat::MarkerIds markers = chat::shapes::load_markers(*tokenizer_);
    const chat::RequestGrammar rules = chat::request_grammar(*request, prompt->initial);
    EXPECT_TRUE(rules.rules.constrains());
    const auto grammar = grammar::compile(rules.rules, chat::message_markers(markers));
    if (!grammar) {
      ADD_FAILURE() << grammar.error().message;
      return {};
    }
    engine::GenerateRequest generate;
    generate.prompt = {1, 2, 3};
    generate.max_tokens = max_tokens;
    generate.stop_ids = markers.stop_ids();
    generate.sampling.seed = seed;
    generate.constraint = engine::grammar_constraint(*grammar, vocabulary_, markers.stop_ids());
    Reply reply;
    const std::vector<TokenId> ids = run(std::move(generate), wish, marker_wish, reply);
    parse(ids, *request, prompt->initial, markers, reply);
    return reply;
  }

 private:
  static std::vector<TokenId> run(engine::GenerateRequest request, const Wish& wish,
                                  float marker_wish, Reply& reply) {
    engine::FakeModel::Observer observer;
    observer.edit_logits = [&](const engine::Sequence&, std::span<float> logits) {
      for (TokenId id = 0; id < logits.size(); ++id) {
        logits[id] += tokenizer_->is_special(id) ? marker_wish : wish(tokenizer_->bytes_of(id));
      }
    };
    engine::FakeModelOptions model;
    model.vocab_size = tokenizer_->vocab_size();
    const auto engine =
        *engine::Engine::start(std::make_unique<engine::FakeModel>(model, observer), {});
    engine::AnswerCollector answer;
    EXPECT_TRUE(engine->submit(std::move(request), answer.fn()));
    reply.finish = answer.wait();
    reply.error = answer.error();
    return answer.ids();
  }

  static void parse(const std::vector<TokenId>& ids, const chat::ChatRequest& request,
                    chat::Channel initial, const chat::MarkerIds& markers, Reply& reply) {
    ChoiceOptions options;
    options.parser.initial = initial;
    options.parser.tools_allowed = request.tools_allowed();
    options.random = [] { return std::uint64_t{1}; };
    Choice choice(*tokenizer_, markers, options);
    std::vector<Delta> deltas;
    for (const TokenId id : ids) {
      const engine::GeneratedToken token{.id = id, .logprob = 0, .top = {}};
      choice.push({&token, 1}, deltas);
    }
    choice.finish(reply.finish == FinishReason::kLength ? chat::StopCause::kLength
                                                        : chat::StopCause::kStopToken,
                  deltas);
    reply.choice = choice.completion(0);
  }

  static inline std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  static inline std::shared_ptr<const grammar::VocabularyIndex> vocabulary_;
};

// The grammar makes the model write the name, the parser reads it back.
TEST_F(StructuredAnswer, NamesOfToolsComeBackAsDeclared) {
  for (const std::string name : {"21st_search", "mcp.get", "ns/get", "server:tool", "-", "f"}) {
    const Reply reply = answer(
        R"("reasoning_effort":"none","tools":[{"type":"function","function":{"name":")" + name +
            R"(","parameters":{"type":"object","properties":{},"additionalProperties":false}}}],)"
            R"("tool_choice":"required","parallel_tool_calls":false)",
        nothing, 20, 1);
    ASSERT_EQ(reply.choice.message.tool_calls.size(), 1U) << name << reply.error;
    EXPECT_EQ(reply.choice.message.tool_calls.front().name, name);
    EXPECT_EQ(reply.choice.message.tool_calls.front().arguments, "{}");
  }
}

// 7.000 is an integer as JSON Schema has it, with as many zeros as a model likes: forms with
// numbers need not end.
bool is_integer(const Json& json) {
  return json.is_number() && json.get<double>() == std::floor(json.get<double>());
}

bool fits_schema(const std::string& text) {
  if (!Json::accept(text) || text.find_first_of("\n\t") != std::string::npos) {
    return false;
  }
  const Json json = Json::parse(text);
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() ||
      !json.contains("age") || !is_integer(json["age"]) || json["age"] < 0 || json["age"] > 120) {
    return false;
  }
  return std::ranges::all_of(json.items(), [](const auto& member) {
    return member.key() == "name" || member.key() == "age" || member.key() == "tags";
  });
}

TEST_F(StructuredAnswer, WhateverTheModelWantsTheContentIsOfTheForm) {
  struct Form {
    std::string fields;
    std::function<bool(const std::string&)> fits;
    bool ends;  // it is bounded, so that it ends within max_tokens
  };
  const std::vector<Form> forms = {
      {R"("response_format":{"type":"json_object"})",
       [](const std::string& text) { return Json::accept(text) && Json::parse(text).is_object(); },
       false},
      {R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":)" +
           std::string(kSchema) + "}}",
       fits_schema, false},
      {R"("guided_json":)" + std::string(kSchema), fits_schema, false},
      {R"("guided_json":{"type":"object","properties":{"s":{"type":"string","maxLength":6},)"
       R"("e":{"enum":["a",true,12]}},"required":["s","e"],"additionalProperties":false})",
       [](const std::string& text) { return Json::accept(text) && Json::parse(text).size() == 2; },
       true},
      {R"("guided_regex":"[a-c]{2,5}-[0-9]{3}")",
       [](const std::string& text) {
         return std::regex_match(text, std::regex("[a-c]{2,5}-[0-9]{3}"));
       },
       true},
      {R"("structured_outputs":{"choice":["yes","no","not at all"]})",
       [](const std::string& text) {
         return text == "yes" || text == "no" || text == "not at all";
       },
       true},
      {R"("guided_grammar":"root ::= \"<\" [a-z]* \">\"")",
       [](const std::string& text) { return std::regex_match(text, std::regex("<[a-z]*>")); },
       false},
  };
  for (const Form& form : forms) {
    for (const Adversary& adversary : adversaries()) {
      for (const float markers : {-40.0F, 0.0F}) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
          SCOPED_TRACE(form.fields + " / " + adversary.name + " / " + std::to_string(markers));
          const Reply reply =
              answer(form.fields + "," + kNoThinking, adversary.wish, markers, seed);
          ASSERT_NE(reply.finish, FinishReason::kError) << reply.error;
          if (form.ends) {
            EXPECT_EQ(reply.finish, FinishReason::kStop);
          }
          if (reply.finish == FinishReason::kStop) {
            EXPECT_TRUE(form.fits(reply.choice.message.content)) << reply.choice.message.content;
            EXPECT_EQ(reply.choice.finish_reason, "stop");
          } else {
            EXPECT_EQ(reply.choice.finish_reason, "length");
          }
        }
      }
    }
  }
}

bool fits_weather(const std::string& arguments) {
  if (!Json::accept(arguments)) {
    return false;
  }
  const Json json = Json::parse(arguments);
  return json.is_object() && json.contains("city") && json["city"].is_string() &&
         (!json.contains("days") ||
          (is_integer(json["days"]) && json["days"] >= 1 && json["days"] <= 9)) &&
         json.size() == 1 + (json.contains("days") ? 1U : 0U);
}

TEST_F(StructuredAnswer, ARequiredCallIsMadeAndFitsItsSchema) {
  for (const std::string choice :
       {R"("required")", R"({"type":"function","function":{"name":"get_weather"}})"}) {
    for (const Adversary& adversary : adversaries()) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(choice + " / " + adversary.name);
        // Markers are welcome, so that the free content ends.
        const Reply reply = answer(std::string(kTools) + R"(,"parallel_tool_calls":false,)" +
                                       R"("tool_choice":)" + choice + "," + kNoThinking,
                                   adversary.wish, 60.0F, seed);
        ASSERT_EQ(reply.finish, FinishReason::kStop) << reply.error;
        EXPECT_EQ(reply.choice.finish_reason, "tool_calls");
        ASSERT_EQ(reply.choice.message.tool_calls.size(), 1U);
        const auto& call = reply.choice.message.tool_calls[0];
        if (choice.front() == '{') {
          EXPECT_EQ(call.name, "get_weather");
        }
        EXPECT_TRUE(call.name == "other" ? Json::parse(call.arguments) == Json::object()
                                         : fits_weather(call.arguments))
            << call.name << " " << call.arguments;
      }
    }
  }
}

TEST_F(StructuredAnswer, ThinkingIsFreeAndTheFormBeginsAfterIt) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Reply reply =
        answer(R"("guided_choice":["yes","no"])", nothing, seed % 2 == 0 ? 8.0F : 4.0F, seed);
    ASSERT_NE(reply.finish, FinishReason::kError) << reply.error;
    if (reply.finish == FinishReason::kStop) {
      const std::string& content = reply.choice.message.content;
      EXPECT_TRUE(content == "yes" || content == "no") << content;
    }
  }
}

TEST_F(StructuredAnswer, BegunContentIsContinued) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Reply reply = answer(
        R"("guided_choice":["yes, please","no, thanks"])", nothing, 0.0F, seed, 50,
        R"({"role":"user","content":"hi"},{"role":"assistant","partial":true,"content":"no, t"})");
    ASSERT_EQ(reply.finish, FinishReason::kStop) << reply.error;
    EXPECT_EQ(reply.choice.message.content, "hanks");
  }
}

TEST_F(StructuredAnswer, ACutAnswerIsMarkedSo) {
  const Reply reply = answer(
      R"("guided_regex":"[a-z]{40}",)" + std::string(kNoThinking),
      [](std::string_view bytes) { return bytes.size() == 1 ? 40.0F : 0.0F; }, 0.0F, 1, 10);
  EXPECT_EQ(reply.finish, FinishReason::kLength);
  EXPECT_EQ(reply.choice.finish_reason, "length");
  EXPECT_EQ(reply.choice.message.content.size(), 10U);
}

}  // namespace
}  // namespace daybreak::api
