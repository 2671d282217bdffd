// SPDX-License-Identifier: Apache-2.0
#include "api/status_routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

TEST(StatusRoutes, HealthAndReadinessTurnWhenDraining) {
  TestApi api(TestApi::says("x"));
  EXPECT_EQ(body_of(api.get("/health")), R"({"status":"ok"})");
  EXPECT_EQ(body_of(api.get("/ready")), R"({"status":"ready"})");
  EXPECT_EQ(body_of(api.get("/ping")), R"({"status":"ready"})");
  EXPECT_EQ(body_of(api.get("/version")), R"({"version":"1.2.3"})");
  api.service->start_draining();
  for (const char* path : {"/health", "/ready", "/ping"}) {
    const std::string reply = api.get(path);
    EXPECT_EQ(status_of(reply), 503);
    EXPECT_EQ(body_of(reply), R"({"status":"draining"})");
  }
}

TEST(StatusRoutes, MetricsCountRequestsByRouteAndCode) {
  TestApi api(TestApi::says("hello<|end_of_msg|>"));
  api.post(chat_body());
  api.post("{");
  api.get("/nothing");
  // A request is counted after its answer is sent, each on its own connection.
  ASSERT_TRUE(eventually([&] {
    const std::string counted = api.metrics.text();
    return std::ranges::all_of(
        std::array{R"(code="200")", R"(code="400")", R"(code="404")"},
        [&](const char* code) { return counted.find(code) != std::string::npos; });
  }));
  const std::string text = body_of(api.get("/metrics"));
  for (const char* line :
       {R"(daybreak_http_requests_total{code="200",method="POST",route="/v1/chat/completions"} 1)",
        R"(daybreak_http_requests_total{code="400",method="POST",route="/v1/chat/completions"} 1)",
        R"(daybreak_http_requests_total{code="404",method="GET",route="none"} 1)",
        R"(daybreak_build_info{version="1.2.3"} 1)",
        R"(vllm:num_requests_running{engine="0",model_name="nano"} 0)",
        R"(vllm:num_requests_waiting{engine="0",model_name="nano"} 0)",
        R"(vllm:time_to_first_token_seconds_bucket)", R"(vllm:inter_token_latency_seconds_count)",
        R"(vllm:e2e_request_latency_seconds_sum)", R"(vllm:generation_tokens_total)",
        R"(finished_reason="stop")", R"(process_resident_memory_bytes )"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(StatusRoutes, MetricsCountBodiesThatFoundNoRoom) {
  TestApi api(TestApi::says("x"));
  EXPECT_NE(body_of(api.get("/metrics")).find("\ndaybreak_http_bodies_refused_total 0\n"),
            std::string::npos);
  http::ServerOptions options;
  api.service->attach(options);
  options.on_body_refused();
  EXPECT_NE(body_of(api.get("/metrics")).find("\ndaybreak_http_bodies_refused_total 1\n"),
            std::string::npos);
}

}  // namespace
}  // namespace daybreak::api
