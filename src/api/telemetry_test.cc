// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/api_test_server.h"
#include "api/otlp_test_collector.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

constexpr const char* kAnswer =
    "think<|close|>think<|sep|><|open|>response<|sep|>hello you<|close|>response<|sep|>"
    "<|close|>message<|sep|><|end_of_msg|>";
constexpr const char* kTraceparent =
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0";

class TelemetryTest : public ::testing::Test {
 protected:
  void start(TestApi::ScriptFn script, TelemetryOptions options) {
    api_ = std::make_unique<TestApi>(std::move(script),
                                     TestApiOptions{.telemetry = std::move(options)});
  }
  void start(TestApi::ScriptFn script = TestApi::says(kAnswer)) {
    start(std::move(script), collector_.options());
  }
  std::string post(const std::string& body, const std::string& header,
                   const std::string& path = "/v1/chat/completions") {
    RawClient client(api_->server->port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + header +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.read_response();
  }
  // The next server span, once it has come.
  nlohmann::json server_span(std::size_t index = 0) {
    std::vector<nlohmann::json> found;
    EXPECT_TRUE(eventually([&] {
      found.clear();
      for (const auto& span : collector_.spans()) {
        if (span["kind"] == 2) {
          found.push_back(span);
        }
      }
      return found.size() > index;
    }));
    return found.size() > index ? found[index] : nlohmann::json();
  }
  // Ends the server, which sends the metrics; returns the one of that name.
  nlohmann::json metric(const std::string& name) {
    api_.reset();
    for (const auto& one : collector_.metrics()) {
      if (one["name"] == name) {
        return one;
      }
    }
    ADD_FAILURE() << "no metric " << name;
    return {};
  }

  TestCollector collector_;
  std::unique_ptr<TestApi> api_;
};

TEST_F(TelemetryTest, ASpanSaysWhatTheApiSays) {
  start([script = TestApi::says(kAnswer)](const engine::GenerateRequest& request) {
    engine::Script out = script(request);
    out.cached_tokens = 2;
    return out;
  });
  const std::string reply =
      post(chat_body(R"("max_tokens":77,"temperature":0.5,"seed":9,"top_p":0.9)"),
           std::string(kTraceparent) + "1\r\nx-request-id: abc");
  ASSERT_EQ(status_of(reply), 200) << reply;
  const Json answer = Json::parse(body_of(reply));
  const nlohmann::json span = server_span();
  EXPECT_EQ(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(span["flags"], 0x301);
  EXPECT_EQ(span["name"], "chat nano");
  EXPECT_FALSE(span.contains("status"));
  const auto text = [&](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  const Json& usage = answer["usage"];
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"gen_ai.operation.name", "chat"},
           {"gen_ai.provider.name", "daybreak"},
           {"gen_ai.request.model", "nano"},
           {"gen_ai.response.model", "nano"},
           {"gen_ai.request.stream", "false"},
           {"gen_ai.request.max_tokens", "77"},
           {"gen_ai.request.temperature", "0.5"},
           {"gen_ai.request.top_p", "0.9"},
           {"gen_ai.request.seed", "9"},
           {"gen_ai.output.type", "text"},
           {"url.path", "/v1/chat/completions"},
           {"daybreak.request_id", "abc"},
           {"daybreak.engine.request_id", "1"},
           {"error.type", ""},
           {"gen_ai.response.id", text(answer["id"])},
           {"gen_ai.usage.input_tokens", text(usage["prompt_tokens"])},
           {"gen_ai.usage.output_tokens", text(usage["completion_tokens"])},
           {"gen_ai.usage.cache_read.input_tokens", "2"},
           {"gen_ai.usage.reasoning.output_tokens",
            text(usage["completion_tokens_details"]["reasoning_tokens"])}}) {
    EXPECT_EQ(attribute_of(span, key), value) << key;
  }
  EXPECT_EQ(usage["prompt_tokens_details"]["cached_tokens"], 2);
  EXPECT_NE(attribute_of(span, "gen_ai.response.finish_reasons").find("stop"), std::string::npos);
}

TEST_F(TelemetryTest, PartsOfARequestFollowEachOther) {
  start();
  post(chat_body(R"("n":2)"), "x: y");
  const nlohmann::json server = server_span();
  EXPECT_FALSE(server.contains("parentSpanId"));
  EXPECT_EQ(attribute_of(server, "gen_ai.request.choice.count"), "2");
  const auto ns = [](const nlohmann::json& value) { return std::stoull(value.get<std::string>()); };
  std::vector<std::string> names;
  std::uint64_t at = 0;
  for (const auto& span : collector_.spans()) {
    EXPECT_EQ(span["traceId"], server["traceId"]);
    EXPECT_GE(ns(span["startTimeUnixNano"]), ns(server["startTimeUnixNano"]));
    EXPECT_LE(ns(span["startTimeUnixNano"]), ns(span["endTimeUnixNano"]));
    EXPECT_LE(ns(span["endTimeUnixNano"]), ns(server["endTimeUnixNano"]));
    if (span["kind"] == 1) {
      EXPECT_EQ(span["parentSpanId"], server["spanId"]);
      names.push_back(span["name"].get<std::string>() +
                      attribute_of(span, "daybreak.choice.index"));
      EXPECT_TRUE(span["name"] == "queue" || ns(span["startTimeUnixNano"]) == at);
      at = ns(span["endTimeUnixNano"]);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"queue0", "prefill0", "decode0", "queue1", "prefill1",
                                             "decode1"}));
}

TEST_F(TelemetryTest, TheCallerDecidesWhetherItsTraceIsExported) {
  start();
  post(chat_body(), std::string(kTraceparent) + "0");
  post(chat_body(), std::string(kTraceparent) + "1");
  server_span();
  const auto duration = metric("gen_ai.server.request.duration");
  EXPECT_EQ(collector_.spans().size(), 4U);  // of the second: the server's and its three parts
  EXPECT_EQ(duration["histogram"]["dataPoints"][0]["count"], "2");  // metrics count all
}

TEST_F(TelemetryTest, TracesThatBeginHereFollowTheSampler) {
  TelemetryOptions options = collector_.options();
  options.sampler.ratio = 0.0;
  start(TestApi::says(kAnswer), options);
  post(chat_body(), "x: y");
  post(chat_body(), std::string(kTraceparent) + "1");
  EXPECT_EQ(server_span()["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  api_.reset();
  EXPECT_EQ(collector_.spans().size(), 4U);
}

TEST_F(TelemetryTest, ErrorsHaveATypeAndOnlyOursAreFailures) {
  start([](const engine::GenerateRequest& request) {
    engine::Script script;
    if (request.max_tokens == 1) {
      script.error = Error{Errc::kCorrupt, "SECRET of the error"};
    }
    script.hang = request.max_tokens == 2;
    return script;
  });
  post("{", "x: y");
  EXPECT_EQ(attribute_of(server_span(0), "error.type"), "invalid_argument");
  EXPECT_FALSE(server_span(0).contains("status"));
  EXPECT_EQ(server_span(0)["name"], "chat");
  post(chat_body(R"("max_tokens":1)"), "x: y");
  EXPECT_EQ(attribute_of(server_span(1), "error.type"), "corrupt");
  EXPECT_EQ(server_span(1)["status"]["code"], 2);
  {
    RawClient client(api_->server->port());
    client.send(TestApi::request_text(chat_body(R"("max_tokens":2)"), "/v1/chat/completions"));
    ASSERT_TRUE(eventually([&] { return api_->engine.stats().running == 1; }));
  }
  EXPECT_EQ(attribute_of(server_span(2), "error.type"), "cancelled");
  EXPECT_FALSE(server_span(2).contains("status"));
}

TEST_F(TelemetryTest, ARefusedRequestsSpanNamesTheServedModelItAskedFor) {
  start();
  struct Case {
    const char* path;
    std::string body;
    std::string model;
  };
  const std::vector<Case> cases = {
      {"/v1/chat/completions", R"({"model":"nano","messages":7})", "nano"},
      {"/v1/completions", R"({"model":"kimi-k3","prompt":{}})", "kimi-k3"},
      {"/v1/responses", R"({"model":"kimi-k3","input":[]})", "kimi-k3"},
      {"/v1/messages", R"({"model":"kimi-k3","max_tokens":1,"messages":[]})", "kimi-k3"},
      // What is not one of the names is anything that a client makes up.
      {"/v1/chat/completions", R"({"model":"gpt-4o","messages":[]})", ""},
      {"/v1/chat/completions", R"({"model":7,"messages":[]})", ""},
      {"/v1/chat/completions", R"({"messages":[]})", ""},
      {"/v1/chat/completions", R"({"model":"nano")", ""}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].body.substr(0, 80));
    EXPECT_GE(status_of(post(cases[i].body, "x: y", cases[i].path)), 400);
    const nlohmann::json span = server_span(i);
    EXPECT_EQ(attribute_of(span, "gen_ai.request.model"), cases[i].model);
    EXPECT_EQ(span["name"].get<std::string>().find(" "),
              cases[i].model.empty()
                  ? std::string::npos
                  : span["name"].get<std::string>().size() - cases[i].model.size() - 1);
  }
  const std::string metrics = metric("gen_ai.server.request.duration").dump();
  EXPECT_NE(metrics.find("kimi-k3"), std::string::npos);
  EXPECT_EQ(metrics.find("gpt-4o"), std::string::npos);
}

TEST_F(TelemetryTest, EveryProtocolIsCovered) {
  start();
  const char* const kNoHeader = "x: y";
  for (const auto& [path, body] : std::vector<std::pair<std::string, std::string>>{
           {"/v1/chat/completions", chat_body()},
           {"/v1/completions", R"({"prompt":["a","b"],"max_tokens":9})"},
           {"/v1/responses", R"({"input":"hi"})"},
           {"/v1/messages",
            R"({"model":"nano","max_tokens":50,"messages":[{"role":"user","content":"hi"}]})"}}) {
    EXPECT_EQ(status_of(post(body, kNoHeader, path)), 200) << path;
  }
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto span = server_span(i);
    paths.push_back(attribute_of(span, "gen_ai.operation.name") + attribute_of(span, "url.path"));
    EXPECT_NE(attribute_of(span, "gen_ai.response.id"), "") << span;
    EXPECT_NE(attribute_of(span, "gen_ai.usage.output_tokens"), "0") << span;
  }
  std::ranges::sort(paths);
  EXPECT_EQ(paths,
            (std::vector<std::string>{"chat/v1/chat/completions", "chat/v1/messages",
                                      "chat/v1/responses", "text_completion/v1/completions"}));
}

TEST_F(TelemetryTest, MetricsAddUpToTheApisUsage) {
  start();
  std::size_t input = 0;
  std::size_t output = 0;
  for (int i = 0; i < 3; ++i) {
    const Json usage = Json::parse(body_of(post(chat_body(), "x: y")))["usage"];
    input += usage["prompt_tokens"].get<std::size_t>();
    output += usage["completion_tokens"].get<std::size_t>();
  }
  const auto usage = metric("gen_ai.client.token.usage");
  EXPECT_EQ(usage["unit"], "{token}");
  EXPECT_EQ(usage["histogram"]["aggregationTemporality"], 2);
  std::size_t seen = 0;
  for (const auto& point : usage["histogram"]["dataPoints"]) {
    const std::string type = attribute_of(point, "gen_ai.token.type");
    EXPECT_EQ(point["sum"].get<double>(), static_cast<double>(type == "input" ? input : output));
    EXPECT_EQ(point["count"], "3");
    EXPECT_EQ(point["explicitBounds"].back(), 67108864.0);
    EXPECT_EQ(point["bucketCounts"].size(), point["explicitBounds"].size() + 1);
    EXPECT_LT(std::stoull(point["startTimeUnixNano"].get<std::string>()),
              std::stoull(point["timeUnixNano"].get<std::string>()));
    ++seen;
  }
  EXPECT_EQ(seen, 2U);
}

// Whatever is asked, answered or sent as a credential is in no byte that leaves.
TEST_F(TelemetryTest, NothingExportedHoldsContent) {
  start(TestApi::says(
      "think<|close|>think<|sep|><|open|>response<|sep|>CANARY<|close|>response<|sep|>"
      "<|open|>tools<|sep|><|open|>call tool=\"CANARY\" index=\"1\"<|sep|><|open|>argument "
      "key=\"CANARY\" type=\"string\"<|sep|>CANARY<|close|>argument<|sep|><|close|>call<|sep|>"
      "<|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>"));
  const std::string key =
      "Authorization: Bearer CANARY\r\nx-api-key: CANARY\r\ntracestate: CANARY=1";
  const std::string messages = R"("messages":[{"role":"system","content":"CANARY"},)"
                               R"({"role":"user","content":"CANARY","name":"CANARY"}])";
  const std::string tools = R"("tools":[{"type":"function","function":{"name":"CANARY",)"
                            R"("description":"CANARY","parameters":{"type":"object"}}}])";
  const std::string more = R"("stop":["CANARYX"],"user":"CANARY","prompt_cache_key":"CANARY",)"
                           R"("metadata":{"CANARY":"CANARY"},"bad_words":["CANARYY"])";
  post("{" + messages + "," + tools + "," + more + "}", key);
  post("{" + messages + R"(,"model":"CANARY"})", key);
  post("{" + messages + R"(,"temperature":"CANARY"})", key);
  post("{CANARY", key);
  post(R"({"prompt":"CANARY","stop":"CANARYX","max_tokens":50})", key, "/v1/completions");
  post(R"({"input":"CANARY","instructions":"CANARY"})", key, "/v1/responses");
  post(R"({"max_tokens":50,"system":"CANARY",)" + messages + "}", key, "/v1/messages");
  server_span(6);
  api_.reset();
  ASSERT_GE(collector_.calls().size(), 2U);
  for (const http::Request& call : collector_.calls()) {
    EXPECT_EQ(call.body.find("CANARY"), std::string::npos) << call.body;
    for (const http::Header& header : call.headers) {
      EXPECT_EQ(header.value.find("CANARY"), std::string::npos) << header.name;
    }
  }
}

TEST_F(TelemetryTest, NamesThatOnlyClientsKnowDoNotGrowTheMetrics) {
  GenAiMetrics metrics;
  RequestFacts facts;
  facts.operation = "chat";
  for (std::size_t i = 0; i < kMaxMetricPoints + 10; ++i) {
    facts.asked_model = std::to_string(i);
    metrics.record(facts);
  }
  const std::vector<telemetry::Metric> collected = metrics.collect();
  ASSERT_EQ(collected.size(), 1U);
  EXPECT_EQ(collected[0].points.size(), kMaxMetricPoints + 1);
  std::uint64_t overflow = 0;
  for (const auto& point : collected[0].points) {
    if (point.attributes.front().key == "otel.metric.overflow") {
      overflow = point.counts.front();
    }
  }
  EXPECT_EQ(overflow, 10U);
}

// Of the engine's time and of one choice: neither a client that reads slowly nor choices side by
// side change what a token takes.
TEST_F(TelemetryTest, TimePerOutputTokenIsThatOfAChoiceInTheEngine) {
  using std::chrono::milliseconds;
  GenAiMetrics metrics;
  RequestFacts facts;
  facts.operation = "chat";
  facts.ended = facts.began + milliseconds(60'000);
  Answered& answer = facts.answered.emplace();
  answer.usage.completion_tokens = 22;
  answer.longest_choice = 11;
  answer.first_token = facts.began + milliseconds(500);
  for (const int finished : {1'400, 1'500}) {
    engine::RequestTimes times;
    times.submitted = facts.began;
    times.first_token = facts.began + milliseconds(500);
    times.finished = facts.began + milliseconds(finished);
    answer.times.push_back(times);
  }
  metrics.record(facts);
  const std::vector<telemetry::Metric> collected = metrics.collect();
  ASSERT_EQ(collected.back().name, "gen_ai.server.time_per_output_token");
  EXPECT_DOUBLE_EQ(collected.back().points.at(0).sum, 0.1);
}

TEST_F(TelemetryTest, TheExporterIsInTheServersMetrics) {
  start();
  post(chat_body(), "x: y");
  server_span();
  EXPECT_TRUE(eventually([&] {
    return api_->metrics.text().find("daybreak_otlp_spans_total{result=\"exported\"} 4") !=
           std::string::npos;
  })) << api_->metrics.text();
}

}  // namespace
}  // namespace daybreak::api
