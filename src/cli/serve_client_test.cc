// SPDX-License-Identifier: Apache-2.0
// The program itself: what `daybreak serve` prints, how it stops, how it refuses.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/serve_child.h"
#include "testing/paths.h"
#include "testing/raw_client.h"

namespace daybreak::cli {
namespace {

using testing::RawClient;

// A request whose answer does not end by itself for a long time.
std::string endless_request(const std::string& more = R"(,"max_tokens":60000)") {
  const std::string body =
      R"({"model":"nano","messages":[{"role":"user","content":"hi"}],"stream":true,)"
      R"("ignore_eos":true)" +
      more + "}";
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(ServeClient, TerminatesCleanlyWhenIdle) {
  Child child(serve({}));
  const std::uint16_t port = port_of(child.read_line());
  RawClient client(port);
  client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(testing::status_of(client.read_response()), 200);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

// Without keys a page of any site could use it through a browser.
TEST(ServeClient, KeepsWebPagesOffUnlessTheirHostIsAllowed) {
  const auto status = [](std::uint16_t port, const std::string& headers) {
    RawClient client(port);
    client.send("POST /tokenize HTTP/1.1\r\nContent-Length: 14\r\n" + headers +
                "\r\n{\"prompt\":\"a\"}");
    return testing::status_of(client.read_response());
  };
  const std::string page = "Host: app.example\r\nOrigin: https://app.example\r\n";
  Child child(serve({}));
  const std::uint16_t port = port_of(child.read_line());
  EXPECT_EQ(status(port, "Host: localhost\r\n"), 200);
  EXPECT_EQ(status(port, page), 403);
  EXPECT_EQ(status(port, "Host: localhost\r\nOrigin: https://app.example\r\n"), 403);
  Child allowing(serve({"--allowed-hosts", "app.example", "--deploy-id", "eu-1"}));
  const std::uint16_t other = port_of(allowing.read_line());
  EXPECT_EQ(status(other, page), 200);
  EXPECT_EQ(status(other, "Host: localhost\r\nOrigin: https://evil.example\r\n"), 403);
  Child wrong(serve({"--allowed-hosts", "https://app.example"}));
  EXPECT_EQ(wrong.wait(), 2);
  EXPECT_NE(wrong.read_errors().find("allowed_hosts: expected names"), std::string::npos);
}

TEST(ServeClient, LogSaysTheModelAndOnlySettingsThatDiffer) {
  const std::string example = testing::source_path("deploy/daybreak.yaml").string();
  Child child(serve({"--config", example, "--max-positions", "65", "--max-sequences", "2"}));
  port_of(child.read_line());
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  const std::string log = child.read_errors();
  std::size_t settings = 0;
  for (std::size_t at = 0; (at = log.find(" setting key=", at)) != std::string::npos; ++at) {
    ++settings;
  }
  EXPECT_EQ(settings, 5U) << log;  // model, port, threads, max_positions, max_sequences
  EXPECT_NE(log.find(" setting key=port value=0 origin=--port\n"), std::string::npos) << log;
  EXPECT_NE(log.find(" model name=nano weight_bytes="), std::string::npos) << log;
  EXPECT_NE(log.find(" threads=1 isa="), std::string::npos) << log;
  // Memory comes in pages of 64 positions.
  EXPECT_NE(log.find(" max_positions=128 max_sequences=2\n"), std::string::npos) << log;
}

TEST(ServeClient, WarnsWhereOtherMachinesReachItWithoutKeys) {
  const std::string warning = "no API keys: whoever reaches this address may use the server";
  const auto started = [&](const std::string& host) {
    Child child(serve({"--host", host}));
    EXPECT_TRUE(child.read_line().starts_with("listening on http://"));
    child.signal(SIGTERM);
    EXPECT_EQ(child.wait(), 0);
    return child.read_errors();
  };
  EXPECT_NE(started("0.0.0.0").find(warning), std::string::npos);
  EXPECT_NE(started("::").find(warning), std::string::npos);
  EXPECT_EQ(started("127.0.0.1").find(warning), std::string::npos);
}

TEST(ServeClient, RequestsThatDoNotSayHowLongRunSideBySide) {
  Child child(serve({}));
  const std::uint16_t port = port_of(child.read_line());
  std::vector<std::unique_ptr<RawClient>> clients;  // as many as max_sequences
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    clients.back()->send(endless_request(""));
  }
  for (const auto& client : clients) {
    EXPECT_NE(client->read_until("data: ").find("200 OK"), std::string::npos);
  }
  // Nobody has finished in the meantime.
  RawClient probe(port);
  probe.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(
      probe.read_response().find("vllm:num_requests_running{engine=\"0\",model_name=\"nano\"} 8\n"),
      std::string::npos);
}

TEST(ServeClient, RunningAnswerIsCutAfterTheDrainTimeWithAnErrorEvent) {
  Child child(serve({"--drain-seconds", "1"}));
  const std::uint16_t port = port_of(child.read_line());
  RawClient client(port);
  client.send(endless_request());
  ASSERT_NE(client.read_until("data: ").find("200 OK"), std::string::npos);
  child.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  RawClient probe(port);  // the listener stays open while draining, so that probes see why
  probe.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(testing::status_of(probe.read_response()), 503);
  probe.close();
  EXPECT_NE(client.read_all().find("the server is shutting down"), std::string::npos);
  client.close();
  EXPECT_EQ(child.wait(), 0);
}

TEST(ServeClient, SecondSignalEndsAtOnce) {
  Child child(serve({"--drain-seconds", "600"}));
  RawClient client(port_of(child.read_line()));
  client.send(endless_request());
  ASSERT_NE(client.read_until("data: ").find("200 OK"), std::string::npos);
  child.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), 1);
}

TEST(ServeClient, WrongUseIsExitCodeTwoAndNamed) {
  for (const auto& [more, says] :
       {std::pair<std::vector<std::string>, std::string>{{"--max-queue", "0"}, "--max-queue"},
        {{"--config", "/no/such.yaml"}, "/no/such.yaml"},
        {{"--numerics", "fast"}, "fast"},
        {{"--host", "no.such.host.invalid"}, "no.such.host.invalid"},
        {{"--no-such-flag"}, "--no-such-flag"}}) {
    SCOPED_TRACE(says);
    Child child(serve(more));
    EXPECT_NE(child.read_errors().find(says), std::string::npos);
    EXPECT_EQ(child.wait(), 2);
  }
}

TEST(ServeClient, TakenPortIsExitCodeOne) {
  Child first(serve({}));
  const std::uint16_t port = port_of(first.read_line());
  Child second({binary(), "serve", testing::source_path("models/nano").string(), "--port",
                std::to_string(port)});
  EXPECT_NE(second.read_errors().find(std::to_string(port)), std::string::npos);
  EXPECT_EQ(second.wait(), 1);
}

}  // namespace
}  // namespace daybreak::cli
