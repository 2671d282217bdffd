// SPDX-License-Identifier: Apache-2.0
// A running server against web pages that reach it through a browser.

#include <gtest/gtest.h>

#include "http/http_test_server.h"

namespace daybreak::http {
namespace {

using testing::status_of;

std::string post(const Server& server, const std::string& headers) {
  testing::RawClient client(server.port());
  client.send("POST /echo HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n" + headers +
              "\r\n{}");
  return client.read_all();
}

TEST(BrowserGuardFault, AServerThatAsksForNoKeysRefusesPagesAndServesPrograms) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.guard_browsers = true;
  const auto server = started(std::move(options), observed);
  const std::string own = "127.0.0.1:" + std::to_string(server->port());
  EXPECT_EQ(status_of(post(*server, "Host: " + own + "\r\n")), 200);
  EXPECT_EQ(status_of(post(*server, "Host: " + own + "\r\nContent-Type: text/plain\r\n")), 200);
  EXPECT_EQ(status_of(post(*server, "Host: " + own + "\r\nOrigin: http://" + own + "\r\n")), 200);
  const std::string rebound = post(
      *server, "Host: evil.example\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\n");
  EXPECT_EQ(status_of(rebound), 403);
  EXPECT_NE(rebound.find("Host 'evil.example'"), std::string::npos) << rebound;
  EXPECT_EQ(status_of(post(*server, "Host: " + own + "\r\nOrigin: http://evil.example\r\n")), 403);
  EXPECT_EQ(status_of(post(*server, "Host: " + own + "\r\nOrigin: http://" + own +
                                        "\r\nContent-Type: text/plain\r\n")),
            415);
}

// A URL in the request line beats the Host header, whichever of them is ours.
TEST(BrowserGuardFault, TheNameInAUrlIsTheOneThatIsJudged) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.guard_browsers = true;
  const auto server = started(std::move(options), observed);
  const auto get = [&](const std::string& target, const std::string& host) {
    testing::RawClient client(server->port());
    client.send("GET " + target + " HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n\r\n");
    return client.read_all();
  };
  EXPECT_EQ(status_of(get("http://localhost/hello", "localhost")), 200);
  EXPECT_EQ(status_of(get("http://localhost/hello", "evil.example")), 200);
  const std::string foreign = get("http://evil.example/hello", "localhost");
  EXPECT_EQ(status_of(foreign), 403);
  EXPECT_NE(foreign.find("Host 'evil.example'"), std::string::npos) << foreign;
  EXPECT_EQ(status_of(get("http://user@localhost/hello", "localhost")), 400);
}

TEST(BrowserGuardFault, WhereEveryInterfaceIsServedNamesAreFree) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.host = "0.0.0.0";
  options.guard_browsers = true;
  const auto server = started(std::move(options), observed);
  EXPECT_EQ(status_of(post(*server, "Host: daybreak.default.svc\r\n")), 200);
  EXPECT_EQ(status_of(post(*server, "Host: a.example\r\nOrigin: http://b.example\r\n")), 403);
}

TEST(BrowserGuardFault, AnAllowedHostThatIsNoneStopsTheStart) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.allowed_hosts = {"https://a.example"};
  const auto server = Server::start(std::move(options), test_router(observed));
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, Errc::kInvalidArgument);
}

TEST(BrowserGuardFault, AnswersRepeatTheTraceAndCarryTheFixedHeaders) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.headers = {{"X-Msh-ProviderDeployId", "eu-1"}};
  const auto server = started(std::move(options), observed);
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const std::string answer = post(*server, "Host: x\r\ntraceparent: " + trace + "\r\n");
  EXPECT_NE(answer.find("\r\ntraceparent: " + trace + "\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\r\nX-Msh-ProviderDeployId: eu-1\r\n"), std::string::npos) << answer;
  const std::string broken = post(*server, "Host: x\r\ntraceparent: 00-zz\r\n");
  EXPECT_EQ(broken.find("traceparent"), std::string::npos) << broken;
}

}  // namespace
}  // namespace daybreak::http
