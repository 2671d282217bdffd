// SPDX-License-Identifier: Apache-2.0
// Streams that are silent for long, with comments and without.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using testing::RawClient;
using testing::status_of;
using std::chrono_literals::operator""ms;

constexpr std::string_view kPing = ": ping\n\n";

// One token after a long time.
TestApi::ScriptFn slow(std::optional<Error> error = {}) {
  const auto ids = chat::shapes::encode(*chat::shapes::load_tokenizer(), "x");
  return [ids, error](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = ids;
    script.error = error;
    script.delay_per_token = 600ms;
    return script;
  };
}

std::string request(const std::string& path, bool stream) {
  const std::string flag = stream ? "true" : "false";
  if (path == "/v1/completions") {
    return R"({"model":"nano","prompt":"a","stream":)" + flag + "}";
  }
  if (path == "/v1/responses") {
    return R"({"model":"nano","input":"a","stream":)" + flag + "}";
  }
  return R"({"model":"nano","max_tokens":9,"messages":[{"role":"user","content":"a"}],"stream":)" +
         flag + "}";
}

std::string answer(TestApi& api, const std::string& path, bool stream) {
  RawClient client(api.server->port());
  client.send(TestApi::request_text(request(path, stream), path));
  return stream ? client.read_until("\r\n0\r\n\r\n") : client.read_response();
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
    ++out;
  }
  return out;
}

const std::vector<std::string> kPaths = {"/v1/chat/completions", "/v1/completions", "/v1/responses",
                                         "/v1/messages"};

TEST(KeepAliveFault, SilentStreamsSendComments) {
  TestApi api(slow(), {.keep_alive_comments = 150ms});
  TestApi quiet(slow());
  for (const std::string& path : kPaths) {
    SCOPED_TRACE(path);
    const std::string with = answer(api, path, true);
    EXPECT_EQ(status_of(with), 200);
    EXPECT_GE(count(with, kPing), 2U) << with;
    EXPECT_LE(count(with, kPing), 4U * 2U) << with;
    // The first is on its own, before any event.
    EXPECT_LT(with.find(kPing), with.find("data: "));
    EXPECT_EQ(with.find("X-Msh-Usage"), std::string::npos);
    EXPECT_EQ(count(answer(quiet, path, true), kPing), 0U);
    EXPECT_EQ(answer(api, path, false).find(kPing), std::string::npos);
  }
}

TEST(KeepAliveFault, NothingIsSentBeforeTheTimeIsUp) {
  TestApi api(slow(Error{Errc::kIo, "broken"}), {.keep_alive_comments = 60'000ms});
  RawClient client(api.server->port());
  client.send(TestApi::request_text(request("/v1/chat/completions", true), "/v1/chat/completions"));
  EXPECT_EQ(client.read_until("\r\n", 300ms), "");
}

TEST(KeepAliveFault, ErrorAfterACommentIsAnEvent) {
  TestApi::ScriptFn fails = [](const engine::GenerateRequest&) {
    engine::Script script;
    script.hang = true;
    return script;
  };
  TestApi api(fails, {.keep_alive_comments = 50ms});
  RawClient client(api.server->port());
  client.send(TestApi::request_text(request("/v1/chat/completions", true), "/v1/chat/completions"));
  EXPECT_EQ(status_of(client.read_until(kPing)), 200);
  api.engine.stop(0ms);
  const std::string rest = client.read_until("\r\n0\r\n\r\n");
  EXPECT_NE(rest.find("data: {\"error\""), std::string::npos) << rest;
}

TEST(KeepAliveFault, ClientThatLeavesIsNoticed) {
  TestApi::ScriptFn hangs = [](const engine::GenerateRequest&) {
    engine::Script script;
    script.hang = true;
    return script;
  };
  TestApi api(hangs, {.keep_alive_comments = 50ms});
  {
    RawClient client(api.server->port());
    client.send(TestApi::request_text(request("/v1/messages", true), "/v1/messages"));
    client.read_until(kPing);
    EXPECT_EQ(api.engine.stats().running, 1U);
  }
  for (int i = 0; i < 500 && api.engine.stats().running > 0; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(api.engine.stats().running, 0U);
}

}  // namespace
}  // namespace daybreak::api
