// SPDX-License-Identifier: Apache-2.0
#include "http/browser_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace daybreak::http {
namespace {

int status(const BrowserGuardOptions& options, std::vector<Header> headers,
           std::string method = "POST") {
  Request request;
  request.method = std::move(method);
  request.headers = std::move(headers);
  return BrowserGuard(options).judge(request).status;
}

BrowserGuardOptions loopback() { return {.host = "127.0.0.1", .loopback = true}; }

int host_status(const BrowserGuardOptions& options, std::string host) {
  return status(options, {{"Host", std::move(host)}}, "GET");
}

TEST(BrowserGuard, TheOriginOfCorsIsOneThatABrowserSends) {
  for (const char* good : {"", "*", "https://app.example.com", "http://localhost:3000"}) {
    EXPECT_TRUE(BrowserGuard::check_origin(good)) << good;
  }
  for (const char* bad : {"localhost:3000", "http://localhost:3000/", "http://a:1,http://b:2"}) {
    const Status status = BrowserGuard::check_origin(bad);
    ASSERT_FALSE(status) << bad;
    EXPECT_NE(status.error().message.find("found '" + std::string(bad) + "'"), std::string::npos);
  }
}

TEST(BrowserGuard, ANameSomebodyCanOwnIsNoNameOfALoopbackServer) {
  for (const std::string host :
       {"evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example",
        "evillocalhost", "127.0.0.1x", "[::1", "[evil]", "2130706433", "evil.example.",
        "a@localhost.x", "x.local.evil.example", "x.internal.evil", "internal", ".local"}) {
    EXPECT_EQ(host_status(loopback(), host), 403) << host;
    EXPECT_EQ(status(loopback(), {{"Host", host}, {"Origin", "http://" + host}}), 403) << host;
  }
}

TEST(BrowserGuard, AddressesAndReservedNamesAreOurs) {
  for (const std::string host :
       {"127.0.0.1:8000", "127.0.0.1", "10.244.0.17:8000", "[::1]:8000", "[::1]", "[fe80::1]:80",
        "localhost", "LocalHost:8000", "localhost.", "api.localhost", "gpu.local:8000",
        "host.docker.internal:8000"}) {
    EXPECT_EQ(host_status(loopback(), host), 200) << host;
  }
  EXPECT_EQ(status(loopback(), {}, "GET"), 200) << "HTTP/1.0 needs no Host";
  EXPECT_EQ(host_status({.host = "gpu1.example.org", .loopback = true}, "gpu1.example.org:80"),
            200);
}

TEST(BrowserGuard, OnOtherAddressesNamesAreFreeUntilSomeAreListed) {
  BrowserGuardOptions wildcard{.host = "0.0.0.0", .loopback = false};
  EXPECT_EQ(host_status(wildcard, "daybreak.default.svc"), 200);
  wildcard.allowed_hosts = {"api.example.org"};
  EXPECT_EQ(host_status(wildcard, "daybreak.default.svc"), 403);
  EXPECT_EQ(host_status(wildcard, "API.example.org:443"), 200);
  EXPECT_EQ(host_status(wildcard, "10.0.0.3"), 200) << "a probe of a pod's address";
}

TEST(BrowserGuard, AStarAllowsEveryName) {
  BrowserGuardOptions any = loopback();
  any.allowed_hosts = {"*"};
  EXPECT_EQ(host_status(any, "whatever.example"), 200);
  EXPECT_EQ(status(any, {{"Host", "localhost"}, {"Origin", "http://evil.example"}}), 403)
      << "names are not origins";
}

TEST(BrowserGuard, PagesOfOtherOriginsMayNotChangeAnything) {
  for (const std::string origin :
       {"https://evil.example", "null", "http://localhost:3000", "http://127.0.0.1", "file://",
        "http://127.0.0.1:8000.evil.example", "x"}) {
    const std::vector<Header> headers = {{"Host", "127.0.0.1:8000"}, {"Origin", origin}};
    for (const std::string method : {"POST", "DELETE", "PUT"}) {
      EXPECT_EQ(status(loopback(), headers, method), 403) << origin << " " << method;
    }
    for (const std::string method : {"GET", "HEAD", "OPTIONS"}) {
      EXPECT_EQ(status(loopback(), headers, method), 200) << origin << " " << method;
    }
  }
}

TEST(BrowserGuard, OwnPagesAndListedOriginsMay) {
  const Header host{"Host", "127.0.0.1:8000"};
  EXPECT_EQ(status(loopback(), {host, {"Origin", "http://127.0.0.1:8000"}}), 200);
  EXPECT_EQ(status(loopback(), {host, {"Origin", "https://app.example"}}), 403);
  EXPECT_EQ(status(loopback(),
                   {host, {"Origin", "https://app.example"}, {"Sec-Fetch-Site", "same-origin"}}),
            200)
      << "behind a proxy that replaces Host";
  BrowserGuardOptions options = loopback();
  options.allowed_hosts = {"app.example"};
  EXPECT_EQ(status(options, {host, {"Origin", "https://app.example:8443"}}), 200);
  EXPECT_EQ(status(options, {host, {"Origin", "https://app.example.evil"}}), 403);
  options = loopback();
  options.cors_origin = "https://ui.example";
  EXPECT_EQ(status(options, {host, {"Origin", "https://ui.example"}}), 200);
  EXPECT_EQ(status(options, {host, {"Origin", "http://ui.example"}}), 403);
  options.cors_origin = "*";
  EXPECT_EQ(status(options, {host, {"Origin", "https://any.example"}}), 200);
}

// fetch() sends these without asking the server first.
TEST(BrowserGuard, APageSendsJsonOrAFormOfFiles) {
  const Header host{"Host", "localhost:1"};
  const Header origin{"Origin", "http://localhost:1"};
  for (const std::string type : {"text/plain", "text/plain;charset=UTF-8",
                                 "application/x-www-form-urlencoded", "application/jsonx"}) {
    EXPECT_EQ(status(loopback(), {host, origin, {"Content-Type", type}}), 415) << type;
    EXPECT_EQ(status(loopback(), {host, {"Content-Type", type}}), 200) << "curl -d";
  }
  for (const std::string type :
       {"application/json", "Application/JSON; charset=utf-8", "application/json ;charset=utf-8",
        "multipart/form-data; boundary=x"}) {
    EXPECT_EQ(status(loopback(), {host, origin, {"Content-Type", type}}), 200) << type;
  }
  EXPECT_EQ(status(loopback(), {host, origin}), 200);
}

TEST(BrowserGuard, RefusesWhatIsNoHostName) {
  EXPECT_TRUE(BrowserGuard::check({"*", "a.example", "::1", "10.0.0.1", "localhost"}));
  for (const std::string host : {"", "http://a", "a:80", "a/b", "a b"}) {
    const Status status = BrowserGuard::check({"ok", host});
    ASSERT_FALSE(status) << host;
    EXPECT_EQ(status.error().message,
              "allowed_hosts: expected names without scheme and port, found '" + host + "'");
  }
}

}  // namespace
}  // namespace daybreak::http
