// SPDX-License-Identifier: Apache-2.0
// What of a running server can be changed, and what answers say beside their content.

#include <gtest/gtest.h>

#include <string>

#include "http/http_test_server.h"

namespace daybreak::http {
namespace {

using testing::RawClient;
using testing::status_of;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(ReconfigureFault, LimitsAndTimeoutsHoldFromTheNextUseOn) {
  Observed observed;
  ServerOptions options = test_options(observed);
  const auto server = started(options, observed);
  RawClient open(server->port());
  ASSERT_TRUE(open.send(kGetHello));
  EXPECT_EQ(status_of(open.read_response()), 200);

  options.max_connections = 1;
  options.limits = {.head_bytes = 256, .body_bytes = 10};
  options.header_timeout = 200ms;
  ASSERT_TRUE(server->check_reconfigure(options));
  server->reconfigure(options);
  RawClient refused(server->port());
  EXPECT_EQ(status_of(refused.read_response(3s)), 503);
  // The request that was being waited for has the old limits, the next one the new.
  ASSERT_TRUE(open.send(kGetHello));
  EXPECT_EQ(status_of(open.read_response()), 200);
  ASSERT_TRUE(open.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n"));
  EXPECT_EQ(status_of(open.read_response(3s)), 413);
  open.close();
  ASSERT_TRUE(eventually([&] { return server->connections() == 0; }));
  RawClient slow(server->port());
  ASSERT_TRUE(slow.send("GET /"));
  EXPECT_EQ(status_of(slow.read_response(3s)), 408);

  options.idle_timeout = 0ms;
  EXPECT_FALSE(server->check_reconfigure(options));
}

std::string head_of(Server& server, const std::string& headers, const char* method = "GET") {
  RawClient client(server.port());
  client.send(std::string(method) + " /hello HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
  return client.read_until("\r\n\r\n", 3s);
}

TEST(ReconfigureFault, TraceIdIsReturnedAndRecorded) {
  Observed observed;
  ServerOptions options = test_options(observed);
  std::mutex mutex;
  std::vector<std::string> traces;
  options.on_finished = [&](const AccessRecord& record) {
    const std::lock_guard lock(mutex);
    traces.emplace_back(record.trace_id);
  };
  const auto server = started(std::move(options), observed);
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const std::string parent = "traceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n";
  // A connection reports after its client has the answer: side by side, in any order.
  const auto wait_for_records = [&](std::size_t count) {
    return eventually([&] {
      const std::lock_guard lock(mutex);
      return traces.size() == count;
    });
  };
  EXPECT_NE(head_of(*server, parent).find("x-trace-id: " + trace + "\r\n"), std::string::npos);
  ASSERT_TRUE(wait_for_records(1));
  // Without one the id of the request, which is in the log, stands for it.
  for (const char* other : {"", "traceparent: 00-xyz-1\r\n"}) {
    const std::string head = head_of(*server, std::string("x-request-id: mine\r\n") + other);
    EXPECT_NE(head.find("x-trace-id: mine\r\n"), std::string::npos) << head;
  }
  ASSERT_TRUE(wait_for_records(3));
  EXPECT_EQ(traces, (std::vector<std::string>{trace, "", ""}));
}

TEST(ReconfigureFault, BrowsersMaySendWhatSdksSend) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.cors_origin = "*";
  const auto server = started(std::move(options), observed);
  const std::string head = head_of(*server,
                                   "Origin: http://a\r\nAccess-Control-Request-Headers: "
                                   "anthropic-new,x-stainless-lang, x-stainless-os,x-evil\r\n",
                                   "OPTIONS");
  const std::size_t at = head.find("Access-Control-Allow-Headers: ");
  ASSERT_NE(at, std::string::npos) << head;
  const std::string allowed = head.substr(at, head.find("\r\n", at) - at);
  for (const char* name : {"Authorization", "Content-Type", "x-api-key", "idempotency-key",
                           "anthropic-version", "anthropic-dangerous-direct-browser-access",
                           "anthropic-new", "x-stainless-lang", "x-stainless-os"}) {
    EXPECT_NE(allowed.find(name), std::string::npos) << name << " in " << allowed;
  }
  EXPECT_EQ(allowed.find("x-evil"), std::string::npos);
}

}  // namespace
}  // namespace daybreak::http
