// SPDX-License-Identifier: Apache-2.0
// Requests that say what their answer must look like, up to the engine: what is compiled, what a
// client hears, and who waits meanwhile.

#include <gtest/gtest.h>

#include <condition_variable>

#include "api/api_test_server.h"
#include "testing/paths.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

constexpr const char* kAnswer =
    "think<|close|>think<|sep|><|open|>response<|sep|>hello<|close|>response<|sep|>"
    "<|close|>message<|sep|><|end_of_msg|>";

// Records what is to be compiled; waits while closed; fails with `error` where set.
class Compiler {
 public:
  grammar::GrammarService::CompileFn fn() {
    return [this](const grammar::MessageRules& rules, const grammar::MessageMarkers&,
                  const grammar::CompileLimits&) -> grammar::GrammarService::Outcome {
      std::unique_lock lock(mutex_);
      seen_.push_back(rules);
      changed_.wait(lock, [this] { return open_; });
      if (error_) {
        return *error_;
      }
      return grammar::compile_choice(std::vector<std::string>{"x"});
    };
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void fail(Error error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }
  std::vector<grammar::MessageRules> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  std::optional<Error> error_;
  std::vector<grammar::MessageRules> seen_;
};

TestApiOptions with(Compiler& compiler) {
  TestApiOptions options;
  options.compile_grammar = compiler.fn();
  return options;
}

TEST(StructuredRequest, OnlyARequestThatAsksForAFormIsConstrained) {
  Compiler compiler;
  TestApi api(TestApi::says(kAnswer), with(compiler));
  EXPECT_EQ(status_of(api.post(chat_body())), 200);
  EXPECT_TRUE(compiler.seen().empty());
  EXPECT_EQ(status_of(api.post(chat_body(R"("guided_regex":"a+","n":2)"))), 200);
  ASSERT_EQ(compiler.seen().size(), 1U);
  EXPECT_EQ(compiler.seen()[0].body_source, "a+");
  EXPECT_EQ(compiler.seen()[0].start, grammar::MessageRules::Start::kThink);
  const auto requests = api.engine.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_FALSE(requests[0].constraint);
  ASSERT_TRUE(requests[1].constraint && requests[2].constraint);
  EXPECT_NE(requests[1].constraint(), requests[2].constraint()) << "each answer has its own";
}

TEST(StructuredRequest, EqualRequestsAreCompiledOnce) {
  Compiler compiler;
  TestApi api(TestApi::says(kAnswer), with(compiler));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status_of(api.post(chat_body(R"("guided_choice":["a","b"])"))), 200);
  }
  EXPECT_EQ(compiler.seen().size(), 1U);
  const std::string text = body_of(api.get("/metrics"));
  for (const char* line :
       {"daybreak_grammar_cache_hits_total 2", "daybreak_grammar_cache_misses_total 1",
        "daybreak_grammar_cached 1", "daybreak_grammar_compile_seconds_count 1",
        "daybreak_grammar_requests_waiting 0", "daybreak_grammar_cached_bytes ",
        "daybreak_grammar_mask_bytes ", "daybreak_engine_broken_constraints_total",
        "daybreak_engine_mask_waits_total", "daybreak_engine_mask_seconds_count"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(StructuredRequest, ErrorsAre400AboutTheFieldInBothForms) {
  struct Case {
    const char* request;
    Error error;
    const char* message;
    const char* param;
  };
  const std::array cases = {
      Case{R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}})",
           {Errc::kTooLarge, "response_format.json_schema.schema: expected a smaller grammar"},
           "response_format.json_schema.schema: expected a smaller grammar",
           "response_format.json_schema.schema"},
      Case{R"("structured_outputs":{"json":{}})",
           {Errc::kUnsupported, "response_format.json_schema.schema: '$x' is not supported"},
           "structured_outputs.json: '$x' is not supported",
           "structured_outputs.json"},
      Case{R"("guided_grammar":"x")",
           {Errc::kInvalidArgument, "grammar: line 1, column 2: expected '::='"},
           "guided_grammar: grammar: line 1, column 2: expected '::='",
           "guided_grammar"},
      Case{kTools,
           {Errc::kTooLarge, "tools[0].function.parameters: expected a smaller grammar"},
           "tools[0].function.parameters: tool 'f': expected a smaller grammar",
           "tools[0].function.parameters"},
  };
  for (const Case& c : cases) {
    Compiler compiler;
    compiler.fail(c.error);
    TestApi api(TestApi::says(kAnswer), with(compiler));
    for (const char* stream : {"", R"(,"stream":true)"}) {
      const std::string reply = api.post(chat_body(c.request + std::string(stream)));
      ASSERT_EQ(status_of(reply), 400) << reply;
      const Json error = Json::parse(body_of(reply))["error"];
      EXPECT_EQ(error["message"], c.message);
      EXPECT_EQ(error["param"], c.param);
      EXPECT_EQ(error["type"], "invalid_request_error");
    }
    EXPECT_TRUE(api.engine.requests().empty());
  }
}

TEST(StructuredRequest, OthersAreAnsweredWhileAGrammarIsCompiled) {
  Compiler compiler;
  compiler.close();
  TestApi api(TestApi::says(kAnswer), with(compiler));
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 8; ++i) {  // more than there are threads of any kind
    slow.push_back(std::make_unique<RawClient>(api.server->port()));
    slow.back()->send(TestApi::request_text(
        chat_body(R"("guided_regex":")" + std::string(1, static_cast<char>('a' + i)) + "\""),
        "/v1/chat/completions"));
  }
  ASSERT_TRUE(eventually([&] {
    return body_of(api.get("/metrics")).find("daybreak_grammar_requests_waiting 8") !=
           std::string::npos;
  }));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status_of(api.post(chat_body())), 200);
  }
  compiler.open();
  for (const auto& client : slow) {
    EXPECT_EQ(status_of(client->read_response()), 200);
  }
}

TEST(StructuredRequest, AClientThatLeavesMeanwhileIsForgotten) {
  Compiler compiler;
  compiler.close();
  TestApi api(TestApi::says(kAnswer), with(compiler));
  {
    RawClient first(api.server->port());
    first.send(TestApi::request_text(chat_body(R"("guided_regex":"a")"), "/v1/chat/completions"));
    RawClient second(api.server->port());
    second.send(TestApi::request_text(chat_body(R"("guided_regex":"b")"), "/v1/chat/completions"));
    ASSERT_TRUE(eventually([&] {
      return api.metrics.text().find("daybreak_grammar_requests_waiting 2") != std::string::npos;
    }));
  }
  EXPECT_TRUE(eventually([&] {
    return api.metrics.text().find("daybreak_grammar_requests_waiting 0") != std::string::npos;
  }));
  compiler.open();
  EXPECT_EQ(status_of(api.post(chat_body())), 200);
  EXPECT_EQ(api.engine.requests().size(), 1U);
  EXPECT_EQ(compiler.seen().size(), 1U) << "the other was never begun";
}

TEST(StructuredRequest, TooManyThatWaitIs429) {
  Compiler compiler;
  compiler.close();
  TestApiOptions options = with(compiler);
  options.grammars.max_waiting = 1;
  TestApi api(TestApi::says(kAnswer), options);
  RawClient first(api.server->port());
  first.send(TestApi::request_text(chat_body(R"("guided_regex":"a")"), "/v1/chat/completions"));
  ASSERT_TRUE(eventually([&] {
    return api.metrics.text().find("daybreak_grammar_requests_waiting 1") != std::string::npos;
  }));
  const std::string reply = api.post(chat_body(R"("guided_regex":"b")"));
  EXPECT_EQ(status_of(reply), 429) << reply;
  EXPECT_NE(reply.find("Retry-After: 1"), std::string::npos) << reply;
  compiler.open();
  EXPECT_EQ(status_of(first.read_response()), 200);
}

TEST(StructuredRequest, ShutdownWhileAGrammarIsCompiledAnswers503) {
  Compiler compiler;
  compiler.close();
  TestApi api(TestApi::says(kAnswer), with(compiler));
  RawClient client(api.server->port());
  client.send(TestApi::request_text(chat_body(R"("guided_regex":"a")"), "/v1/chat/completions"));
  ASSERT_TRUE(eventually([&] { return compiler.seen().size() == 1; }));
  api.service->start_draining();
  api.engine.stop(std::chrono::milliseconds(0));
  compiler.open();
  EXPECT_EQ(status_of(client.read_response()), 503);
}

TEST(StructuredRequest, IgnoreEosDoesNotOutliveTheForm) {
  Compiler compiler;
  TestApi api(TestApi::says(kAnswer), with(compiler));
  api.post(chat_body(R"("guided_regex":"a","ignore_eos":true,"max_tokens":20)"));
  const auto ids = api.engine.requests().at(0).stop_ids;
  EXPECT_NE(std::ranges::find(ids, *api.tokenizer->special("<|end_of_msg|>")), ids.end());
}

// docs/structured-output.md, "Errors": one request for each line there.
TEST(StructuredRequest, TheErrorsOfTheDocumentAreThoseOfTheServer) {
  TestApi api(TestApi::says(kAnswer));
  const auto with_schema = [](const std::string& schema) {
    return R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":)" +
           schema + "}}";
  };
  std::string said;
  for (const std::string& fields :
       {with_schema(R"({"properties":{"tags":{"minLength":-1}}})"),
        with_schema(R"({"type":"string","minLength":3,"maxLength":2})"),
        with_schema(R"({"type":"array","uniqueItems":true})"),
        std::string(R"("tools":[{"type":"function","function":{"name":"f","parameters":)"
                    R"({"type":"object","properties":{"a":{"type":"strin"}}}}}])"),
        std::string(R"("guided_regex":"(a)\\1")"),
        std::string(R"("guided_grammar":"root ::= sum")"),
        std::string(R"("guided_json":{"type":"string","pattern":"^(a|b)*a(a|b){24}$"})"),
        std::string(R"("guided_json":{},"guided_regex":"a")")}) {
    const std::string reply = api.post(chat_body(fields));
    EXPECT_EQ(status_of(reply), 400) << reply;
    said += Json::parse(body_of(reply))["error"]["message"].get<std::string>() + "\n";
  }
  const std::string document =
      testing::read_file(testing::source_path("docs/structured-output.md"));
  const std::size_t begin = document.find("```\n", document.find("\n## Errors\n")) + 4;
  EXPECT_EQ(document.substr(begin, document.find("```\n", begin) - begin), said);
}

}  // namespace
}  // namespace daybreak::api
