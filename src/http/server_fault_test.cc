// SPDX-License-Identifier: Apache-2.0
// A running server against clients that are wrong, slow, greedy or gone.

#include "http/server.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <cstdio>

#include <charconv>
#include <filesystem>
#include <map>
#include <thread>

#include "http/body_budget.h"
#include "http/http_test_server.h"
#include "testing/paths.h"

namespace daybreak::http {
namespace {

using testing::body_of;
using testing::RawClient;
using testing::status_of;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// Undoes the escapes described in testdata/http/README.md.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      continue;
    }
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    ++i;
    unsigned value = 0;
    const char* at = text.data() + i + 1;
    switch (text[i]) {
      case 'r':
        out += '\r';
        break;
      case 'n':
        out += '\n';
        break;
      case 'x':
        std::from_chars(at, at + 2, value, 16);
        out += static_cast<char>(value);
        i += 2;
        break;
      case '{': {
        const std::size_t close = text.find('}', i);
        std::from_chars(at, text.data() + close, value);
        out.append(value, text[close - 1]);
        i = close;
        break;
      }
      default:
        out += text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> sections(const std::string& text) {
  std::map<std::string, std::string> out;
  std::string name;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- ")) {
      name = line.substr(4);
    } else {
      out[name] += line;
    }
  }
  return out;
}

TEST(ServerFault, EveryRequestOfTheTableGetsItsAnswer) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  int cases = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::source_path("testdata/http"))) {
    if (entry.path().extension() != ".txt") {
      continue;
    }
    SCOPED_TRACE(entry.path().filename().string());
    ++cases;
    auto parts = sections(testing::read_file(entry.path()));
    RawClient client(server->port());
    ASSERT_TRUE(client.send(unescaped(parts["request"])));
    const bool head = parts["request"].starts_with("HEAD");
    const std::string answer = head ? client.read_until("\r\n\r\n", 3s) : client.read_response(3s);
    EXPECT_EQ(std::to_string(status_of(answer)), parts["status"]) << answer;
    EXPECT_NE(answer.find(parts["body"]), std::string::npos) << answer;
    EXPECT_NE(answer.find("x-request-id: "), std::string::npos);
    if (parts["then"] == "close") {
      EXPECT_TRUE(client.closed_by_peer(3s)) << answer;
      EXPECT_FALSE(client.reset());
      continue;
    }
    ASSERT_TRUE(client.send(kGetHello));
    EXPECT_NE(client.read_until("\r\n\r\nhello", 3s).find("200 OK"), std::string::npos);
  }
  EXPECT_GE(cases, 50);
  if (!::testing::Test::HasFailure()) {
    std::printf("PROOF http_table: %d cases\n", cases);
  }
}

TEST(ServerFault, ACompressedBodyIsRefusedByItsCoding) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  for (const auto& [coding, status] : {std::pair{"gzip", 415}, {"identity", 200}}) {
    RawClient client(server->port());
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: " + std::string(coding) +
                "\r\nContent-Length: 2\r\n\r\nab");
    const std::string reply = client.read_response();
    EXPECT_EQ(status_of(reply), status) << reply;
    EXPECT_EQ(reply.find("found 'gzip'") != std::string::npos, status == 415);
  }
}

TEST(ServerFault, WhatAHandlerThrewIsInItsRecordAndNotInTheAnswer) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient client(server->port());
  ASSERT_TRUE(client.send("GET /throws HTTP/1.1\r\nHost: x\r\n\r\n"));
  const std::string answer = client.read_response(3s);
  EXPECT_EQ(status_of(answer), 500);
  EXPECT_EQ(answer.find("bad_alloc"), std::string::npos) << answer;
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(observed.mutex);
    return !observed.errors.empty();
  }));
  const std::lock_guard lock(observed.mutex);
  EXPECT_EQ(observed.errors, std::vector<std::string>{"as bad_alloc would"});
}

TEST(ServerFault, TruncatedRequestIsClosedWithoutAnAnswer) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  for (const char* part :
       {"GET /hel", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"}) {
    RawClient client(server->port());
    ASSERT_TRUE(client.send(part));
    client.close();
  }
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; }));
}

TEST(ServerFault, EightMegabytesAreRefusedWithAnAnswerNotAReset) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient client(server->port());
  const std::string body(8U << 20U, 'a');
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\n\r\n"));
  EXPECT_TRUE(client.send(body));
  const std::string answer = client.read_response();
  EXPECT_EQ(status_of(answer), 413) << answer;
  EXPECT_NE(answer.find("limit of 4096 bytes"), std::string::npos) << answer;
  EXPECT_FALSE(client.reset());
}

TEST(ServerFault, SlowHeadAndSlowBodyAreTimedOut) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.header_timeout = 300ms;
  options.body_timeout = 300ms;
  const auto server = started(std::move(options), observed);
  for (const std::string start :
       {"GET /hello HTTP/1.1\r\nA:",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n"}) {
    SCOPED_TRACE(start);
    RawClient client(server->port());
    ASSERT_TRUE(client.send(start));
    // Something arrives all the time: only a deadline for the whole can end this.
    for (int i = 0; i < 40; ++i) {
      client.send("a");
      std::this_thread::sleep_for(20ms);
    }
    const std::string answer = client.read_response(5s);
    EXPECT_EQ(status_of(answer), 408) << answer;
    EXPECT_TRUE(client.closed_by_peer(10s));
  }
}

TEST(ServerFault, BodiesTogetherHaveABoundAndSmallOnesAlwaysFit) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.limits.body_bytes = 1'000'000;
  options.max_bodies_bytes = 1'000'000;
  std::atomic<int> told{0};
  options.on_body_refused = [&told] { ++told; };
  const auto server = started(std::move(options), observed);
  const auto request = [](const char* path, std::size_t size) {
    return std::string("POST ") + path +
           " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'b');
  };
  const auto post = [&](std::size_t size) {
    RawClient client(server->port());
    client.send(request("/echo", size));
    return client.read_response();
  };
  {
    RawClient waiting(server->port());  // for its answer: its body is in memory
    ASSERT_TRUE(waiting.send(request("/hold", 900'000)));
    ASSERT_TRUE(eventually([&] { return observed.held == 1; }));
    for (int i = 0; i < 10; ++i) {  // what is refused keeps nothing
      const std::string refused = post(900'000);
      EXPECT_EQ(status_of(refused), 503) << refused.substr(0, 500);
      EXPECT_NE(refused.find("Retry-After: 1\r\n"), std::string::npos);
      EXPECT_NE(refused.find("take all the memory"), std::string::npos);
    }
    EXPECT_EQ(told, 10);
    EXPECT_EQ(status_of(post(kFreeBodyBytes)), 200) << "a small one always fits";
    EXPECT_TRUE(eventually([&] { return status_of(post(200'000)) == 200; })) << "it fits beside";
  }
  ASSERT_TRUE(eventually([&] { return server->connections() == 0; }));
  RawClient open(server->port());
  for (int i = 0; i < 3; ++i) {
    open.send(request("/echo", 900'000));
    EXPECT_EQ(status_of(open.read_response()), 200) << "an answered one keeps nothing";
    EXPECT_TRUE(eventually([&] { return status_of(post(900'000)) == 200; }));
  }
}

// The end of a stream may be read at the very moment at which the answer is out.
TEST(ServerFault, ClientThatClosesAfterItsAnswerIsForgottenAtOnce) {
  Observed observed;
  const auto server = started(test_options(observed), observed);  // idle for a minute
  for (int i = 0; i < 2000; ++i) {
    RawClient client(server->port());
    ASSERT_TRUE(client.send(kGetHello));
    ASSERT_EQ(status_of(client.read_response()), 200);
  }
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; })) << server->connections();
}

TEST(ServerFault, IdleConnectionIsClosedSilently) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.idle_timeout = 200ms;
  const auto server = started(std::move(options), observed);
  RawClient fresh(server->port());
  RawClient used(server->port());
  ASSERT_TRUE(used.send(kGetHello));
  EXPECT_EQ(status_of(used.read_response()), 200);
  EXPECT_EQ(used.read_all(5s), "");
  EXPECT_EQ(fresh.read_all(5s), "");
  EXPECT_TRUE(used.closed_by_peer(1s));
  EXPECT_TRUE(fresh.closed_by_peer(1s));
}

TEST(ServerFault, ReaderThatTakesNothingIsDropped) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.write_timeout = 300ms;
  const auto server = started(std::move(options), observed);
  RawClient client(server->port(), 4096);
  ASSERT_TRUE(client.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(eventually([&] { return observed.finished == 1; }));
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; }));
}

TEST(ServerFault, HandlerLearnsThatItsClientLeftBeforeTheFirstByte) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  {
    RawClient client(server->port());
    ASSERT_TRUE(client.send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n"));
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(observed.gone, 0);
  }
  EXPECT_TRUE(eventually([&] { return observed.gone == 1 && observed.finished == 1; }));
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(observed.mutex);
    return observed.statuses == std::vector<int>{499};
  }));
}

TEST(ServerFault, PipelinedRequestsAreAnsweredInOrder) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient client(server->port());
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const std::string body = std::to_string(i);
    all += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(body_of(client.read_response()), std::to_string(i));
  }
}

TEST(ServerFault, PipeliningBehindAWaitingRequestIsBounded) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient client(server->port());
  ASSERT_TRUE(client.send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n"));
  // More than the server keeps and the kernel buffers: the sender is held up, the handler is not.
  const std::string flood(256U << 20U, 'x');
  EXPECT_LT(client.send_some(flood, 500ms), flood.size());
  EXPECT_EQ(observed.finished, 0);
  server->stop();
  EXPECT_EQ(observed.finished, 1);
}

TEST(ServerFault, ContinueIsSentBeforeTheBody) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient client(server->port());
  ASSERT_TRUE(client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("abc"));
  EXPECT_EQ(body_of(client.read_response()), "abc");
}

TEST(ServerFault, EventsAreChunkedAndEndedForHttp11AndPlainForHttp10) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient client(server->port());
  ASSERT_TRUE(client.send("GET /three HTTP/1.1\r\nHost: x\r\n\r\n"));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_EQ(client.read_until("0\r\n\r\n"),
            "9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n0\r\n\r\n");
  ASSERT_TRUE(client.send(kGetHello));
  EXPECT_EQ(body_of(client.read_response()), "hello");

  RawClient old(server->port());
  ASSERT_TRUE(old.send("GET /three HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(body_of(old.read_all()), "data: 1\n\ndata: 2\n\ndata: 3\n\n");
}

TEST(ServerFault, HeadSendsTheLengthWithoutTheBody) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient client(server->port());
  ASSERT_TRUE(client.send("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  const std::string answer = client.read_all();
  EXPECT_NE(answer.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_EQ(body_of(answer), "");
}

TEST(ServerFault, CorsIsOffUnlessAnOriginIsSet) {
  Observed observed;
  constexpr std::string_view kPreflight =
      "OPTIONS /hello HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\n\r\n";
  for (const char* origin : {"", "*", "http://a"}) {
    SCOPED_TRACE(origin);
    ServerOptions options = test_options(observed);
    options.cors_origin = origin;
    const auto server = started(std::move(options), observed);
    RawClient client(server->port());
    ASSERT_TRUE(client.send(kPreflight));
    const std::string answer = client.read_response();
    const bool allowed =
        answer.find("Access-Control-Allow-Origin: " + std::string(origin)) != std::string::npos;
    EXPECT_EQ(allowed, *origin != '\0') << answer;
    EXPECT_NE(answer.find("Allow: GET, HEAD, OPTIONS"), std::string::npos);
  }
}

TEST(ServerFault, ConnectionLimitHoldsAtTheCount) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.max_connections = 3;
  const auto server = started(std::move(options), observed);
  std::vector<RawClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server->port());
    ASSERT_TRUE(clients.back().send(kGetHello));
    EXPECT_EQ(status_of(clients.back().read_response()), 200);
  }
  RawClient extra(server->port());
  const std::string answer = extra.read_response();
  EXPECT_EQ(status_of(answer), 503) << answer;
  EXPECT_NE(answer.find("the limit is 3"), std::string::npos);
  EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
  clients.pop_back();
  extra.close();
  EXPECT_TRUE(eventually([&] { return server->connections() == 2; }));
  RawClient again(server->port());
  ASSERT_TRUE(again.send(kGetHello));
  EXPECT_EQ(status_of(again.read_response()), 200);
}

TEST(ServerFault, ThousandIdleConnectionsDoNotDisturbOthers) {
  constexpr rlim_t kDescriptors = 2200;  // both ends live in this process
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(std::max(limit.rlim_cur, kDescriptors), limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < kDescriptors) {
    GTEST_SKIP() << "needs " << kDescriptors << " file descriptors, may open " << limit.rlim_cur;
  }
  Observed observed;
  const auto server = started(test_options(observed), observed);
  std::vector<RawClient> idle;
  idle.reserve(1000);
  for (int i = 0; i < 1000; ++i) {
    idle.emplace_back(server->port());
    ASSERT_TRUE(idle.back().connected()) << i;
  }
  ASSERT_TRUE(eventually([&] { return server->connections() == 1000; }));
  for (int i = 0; i < 100; ++i) {
    RawClient client(server->port());
    ASSERT_TRUE(client.send(kGetHello));
    ASSERT_EQ(status_of(client.read_response()), 200);
  }
  ASSERT_TRUE(eventually([&] { return server->connections() == 1000; }));  // none was sacrificed
  for (RawClient& client : idle) {  // and each of them still works
    ASSERT_TRUE(client.send(kGetHello));
    ASSERT_EQ(status_of(client.read_response()), 200);
  }
  std::printf("PROOF idle_connections: %zu idle, 100 of 100 requests beside them answered\n",
              idle.size());
}

TEST(ServerFault, DrainFinishesWhatRunsAndClosesTheRest) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient idle(server->port());
  RawClient busy(server->port());
  ASSERT_TRUE(busy.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab"));
  std::this_thread::sleep_for(100ms);
  std::thread drain([&] { EXPECT_EQ(server->drain(20s), 0U); });
  EXPECT_TRUE(idle.closed_by_peer());
  ASSERT_TRUE(busy.send("c"));
  const std::string answer = busy.read_response();
  EXPECT_EQ(body_of(answer), "abc");
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  busy.close();
  drain.join();
  EXPECT_FALSE(RawClient(server->port()).connected());
}

TEST(ServerFault, DrainGivesUpAtItsDeadline) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  RawClient busy(server->port());
  ASSERT_TRUE(busy.send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n"));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(server->drain(50ms), 1U);
  server->stop();
  EXPECT_EQ(observed.finished, 1);
}

TEST(ServerFault, WrongOptionsAndTakenPortsAreErrors) {
  Observed observed;
  const auto first = started(test_options(observed), observed);
  ServerOptions options = test_options(observed);
  options.port = first->port();
  const auto taken = Server::start(options, test_router(observed));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::kIo);
  EXPECT_NE(taken.error().message.find(std::to_string(first->port())), std::string::npos);
  options.port = 0;
  options.host = "no.such.host.invalid";
  EXPECT_EQ(Server::start(options, test_router(observed)).error().code, Errc::kInvalidArgument);
  options.host = "127.0.0.1";
  for (const std::size_t threads : {std::size_t{0}, std::size_t{257}}) {
    options.threads = threads;
    EXPECT_EQ(Server::start(options, test_router(observed)).error().message,
              "http threads must be 1 to 256, found " + std::to_string(threads));
  }
}

}  // namespace
}  // namespace daybreak::http
