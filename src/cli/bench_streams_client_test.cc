// SPDX-License-Identifier: Apache-2.0
// `daybreak bench streams` and `bench server` as a user runs them.

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/scripted_server.h"
#include "cli/serve_child.h"
#include "testing/raw_client.h"

namespace daybreak::cli {
namespace {

TEST(BenchStreamsClient, EveryTokenOfEveryStreamArrives) {
  Child bench({binary(), "bench", "streams", testing::source_path("models/nano").string(),
               "--streams", "50", "--rate", "100", "--seconds", "1", "--json"});
  std::string text;
  for (std::string line; !(line = bench.read_line()).empty();) {
    text += line;
  }
  EXPECT_EQ(bench.wait(), 0) << bench.read_errors();
  const auto report = nlohmann::json::parse(text);
  EXPECT_EQ(report["complete_streams"], 50);
  EXPECT_EQ(report["tokens"], 5'000);
  EXPECT_EQ(report["first_fault"], "");
  EXPECT_GT(report["added_ms"]["mean"], 0.0);
  EXPECT_GE(report["added_ms"]["max"], report["added_ms"]["p99"]);
  EXPECT_GT(report["bytes"], 5'000 * 50);
  EXPECT_GT(report["idle_bytes"], 0);
}

TEST(BenchStreamsClient, OneFileOfTlsIsRefused) {
  Child bench({binary(), "bench", "streams", "--tls-key", "nowhere.pem"});
  EXPECT_EQ(bench.wait(), 2);
  EXPECT_NE(bench.read_errors().find("--tls-certificate"), std::string::npos);
}

TEST(BenchServerClient, AnswersWithTheLettersOfItsScriptUntilASignal) {
  Child server(
      {binary(), "bench", "server", testing::source_path("models/nano").string(), "--port", "0"});
  testing::RawClient client(port_of(server.read_line()));
  const std::string body =
      R"({"model":"scripted","seed":3,"max_tokens":4,"thinking":{"type":"disabled"},)"
      R"("messages":[{"role":"user","content":"hi"}]})";
  client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const auto reply = nlohmann::json::parse(testing::body_of(client.read_response()));
  std::string expected;
  for (std::size_t i = 0; i < 4; ++i) {
    expected += scripted_letter(3, i);
  }
  EXPECT_EQ(reply["choices"][0]["message"]["content"], expected);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

}  // namespace
}  // namespace daybreak::cli
