// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md against what a server exposes.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "api/api_test_server.h"
#include "api/otlp_test_collector.h"
#include "testing/paths.h"

namespace daybreak::api {
namespace {

// Rows "| `name` | kind | ..." of the page: name -> kind. Those of the command line's own metrics
// and of first events are rows too, but may be missing from what a server exposes: `optional`.
std::map<std::string, std::string> documented(std::set<std::string>& optional) {
  std::ifstream file(testing::source_path("docs/metrics.md"));
  std::map<std::string, std::string> out;
  for (std::string line; std::getline(file, line);) {
    static const std::regex kRow(R"(\| `([a-z0-9_:]+)` \| (counter|gauge|histogram)( \*)? \|.*)");
    std::smatch match;
    if (std::regex_match(line, match, kRow)) {
      EXPECT_TRUE(out.emplace(match[1], match[2]).second) << match[1] << " is there twice";
      if (match[3].matched) {
        optional.insert(match[1]);
      }
    }
  }
  return out;
}

std::map<std::string, std::string> exposed(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name;
      std::string kind;
      words >> name >> kind;
      EXPECT_TRUE(out.emplace(name, kind).second) << name << " is exposed twice";
    }
  }
  return out;
}

TEST(MetricsPage, NamesWhatIsExposedAndNothingElse) {
  const TestCollector collector;
  TestApi api(TestApi::says("hello<|end_of_msg|>"), {.telemetry = collector.options()});
  api.post(chat_body());
  ASSERT_TRUE(eventually([&] {
    return api.metrics.text().find("daybreak_http_requests_total{") != std::string::npos;
  }));
  std::set<std::string> optional;
  const auto page = documented(optional);
  const auto server = exposed(api.metrics.text());
  EXPECT_GT(server.size(), 40U);
  for (const auto& [name, kind] : server) {
    EXPECT_TRUE(page.contains(name)) << name << " is not in docs/metrics.md";
    EXPECT_EQ(page.contains(name) ? page.at(name) : kind, kind) << name;
  }
  for (const auto& [name, kind] : page) {
    EXPECT_TRUE(server.contains(name) || optional.contains(name)) << name << " is not exposed";
  }
}

// Of an answer with one choice, whatever spelling a dashboard asks for.
TEST(MetricsPage, BothSpellingsSayTheSame) {
  TestApi api(TestApi::says("hello<|end_of_msg|>"));
  api.post(chat_body());
  const std::string text = api.metrics.text();
  const auto lines_of = [&](const std::string& name) {
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name)) {
        out += line.substr(name.size()) + "\n";
      }
    }
    return out;
  };
  for (const auto& [now, before] :
       {std::pair{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
        {"vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"}}) {
    EXPECT_NE(lines_of(now), "") << now;
    EXPECT_EQ(lines_of(now), lines_of(before));
  }
  EXPECT_NE(text.find("vllm:time_to_first_token_seconds_bucket{engine=\"0\",model_name=\"nano\","
                      "le=\"3600\"}"),
            std::string::npos);
  EXPECT_NE(text.find("vllm:e2e_request_latency_seconds_bucket{engine=\"0\",model_name=\"nano\","
                      "le=\"7680\"}"),
            std::string::npos);
}

TEST(MetricsPage, CountsWhatRequestsAskFor) {
  TestApi api(TestApi::says("hello<|end_of_msg|>"));
  api.post(chat_body(R"("n":2,"max_tokens":77)"));
  api.post(chat_body(R"("max_tokens":0)"));  // refused: not counted
  std::string text;
  EXPECT_TRUE(eventually([&] {
    text = api.metrics.text();
    return text.find("vllm:request_params_n_count{engine=\"0\",model_name=\"nano\"} 1") !=
           std::string::npos;
  })) << text;
  for (const char* line :
       {"vllm:request_params_n_sum{engine=\"0\",model_name=\"nano\"} 2",
        "vllm:request_params_max_tokens_sum{engine=\"0\",model_name=\"nano\"} 77",
        "vllm:request_max_num_generation_tokens_count{engine=\"0\","
        "model_name=\"nano\"} 1"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

// As vLLM counts it, which knows of stop strings where it generates.
TEST(MetricsPage, AStopStringIsNoAbort) {
  TestApi api([says = TestApi::says("one two three four")](const engine::GenerateRequest& request) {
    engine::Script script = says(request);
    script.hang = true;
    return script;
  });
  api.post(R"({"model":"nano","prompt":"a","stop":["two"],"max_tokens":50})", "/v1/completions");
  const auto count = [](const std::string& reason, const std::string& value) {
    return "vllm:request_success_total{engine=\"0\",finished_reason=\"" + reason +
           "\",model_name=\"nano\"} " + value + "\n";
  };
  EXPECT_TRUE(
      eventually([&] { return api.metrics.text().find(count("stop", "1")) != std::string::npos; }));
  EXPECT_NE(api.metrics.text().find(count("abort", "0")), std::string::npos) << api.metrics.text();
}

TEST(MetricsPage, ACompletionCountsTheLongestAnswerItAllows) {
  TestApi api(TestApi::says("hello<|end_of_msg|>"));
  api.post(R"({"model":"nano","prompt":["a","b"],"max_tokens":5})", "/v1/completions");
  const std::string sum =
      "vllm:request_params_max_tokens_sum{engine=\"0\",model_name=\"nano\"} 5\n";
  EXPECT_TRUE(eventually([&] { return api.metrics.text().find(sum) != std::string::npos; }))
      << api.metrics.text();
}

}  // namespace
}  // namespace daybreak::api
