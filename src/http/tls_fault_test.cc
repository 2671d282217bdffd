// SPDX-License-Identifier: Apache-2.0
// A server behind TLS against clients that are right, wrong, slow or gone.

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <chrono>
#include <string>
#include <vector>

#include "http/tls_test_server.h"

namespace daybreak::http {
namespace {

using testing::RawClient;
using testing::status_of;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Clock = std::chrono::steady_clock;

TEST(TlsFault, ServesRequestsStreamsAndKeepsAlive) {
  TlsServer tls;
  EXPECT_TRUE(tls.server->url().starts_with("https://127.0.0.1:"));
  TlsClient client(tls.server->port(), {.alpn = "http/1.1"});
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.alpn(), "http/1.1");
  EXPECT_EQ(client.version(), "TLSv1.3");
  const std::string body(4000, 'b');
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.send(kGetHello));
    EXPECT_TRUE(client.read_response().ends_with("\r\n\r\nhello"));
    ASSERT_TRUE(client.send("GET /three HTTP/1.1\r\nHost: x\r\n\r\n"));
    const std::string stream = client.read_until("0\r\n\r\n");
    EXPECT_NE(stream.find("data: 1\n\n"), std::string::npos);
    EXPECT_NE(stream.find("data: 3\n\n"), std::string::npos);
    ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n"));
    ASSERT_TRUE(client.send(body));
    EXPECT_TRUE(client.read_response().ends_with(body));
  }
  ASSERT_TRUE(client.send("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(client.read_response().ends_with("hello"));
  EXPECT_TRUE(client.closed_by_peer());
}

TEST(TlsFault, PipelinedRequestsAreAllAnswered) {
  TlsServer tls;
  TlsClient client(tls.server->port());
  std::string many;
  for (int i = 0; i < 20; ++i) {
    many += kGetHello;
  }
  ASSERT_TRUE(client.send(many));
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(client.read_response().ends_with("hello")) << i;
  }
}

TEST(TlsFault, OldVersionsAndOtherProtocolsAreRefused) {
  TlsServer tls;
  EXPECT_TRUE(TlsClient(tls.server->port(), {.max_version = TLS1_2_VERSION}).connected());
  EXPECT_FALSE(TlsClient(tls.server->port(), {.max_version = TLS1_1_VERSION}).connected());
  EXPECT_FALSE(TlsClient(tls.server->port(), {.alpn = "h2"}).connected());
  EXPECT_TRUE(eventually([&] { return tls.failed("protocol") == 2; }));
}

TEST(TlsFault, PlainHttpIsToldSoClosedCleanlyAndCounted) {
  TlsServer tls;
  for (const char* method : {"GET", "POST", "HEAD", "DELETE", "OPTIONS", "CONNECT"}) {
    RawClient client(tls.server->port());
    ASSERT_TRUE(client.send(std::string(method) + " /hello HTTP/1.1\r\nHost: x\r\n\r\n"));
    const std::string answer = client.read_response();
    EXPECT_EQ(status_of(answer), 400) << method;
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << answer;
    EXPECT_TRUE(answer.ends_with("this port speaks TLS: use https://\n")) << answer;
    EXPECT_TRUE(client.closed_by_peer(10s)) << method;
    EXPECT_FALSE(client.reset());
  }
  EXPECT_TRUE(eventually([&] { return tls.failed("plain_http") == 6; }));
  {
    // A body that is still on its way does not reset the answer.
    RawClient client(tls.server->port());
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n" +
                std::string(4'000'000, 'b'));
    EXPECT_EQ(status_of(client.read_response()), 400);
  }
  RawClient garbage(tls.server->port());
  ASSERT_TRUE(garbage.send(std::string(300, '\xff')));
  EXPECT_TRUE(garbage.closed_by_peer(3s));
  EXPECT_TRUE(eventually([&] { return tls.failed("protocol") == 1; }));
  const std::lock_guard lock(tls.observed.mutex);
  EXPECT_EQ(tls.observed.statuses, std::vector<int>(7, 400));
}

TEST(TlsFault, PlainHttpBeyondTheConnectionsIsToldTheSame) {
  TlsServer tls([](ServerOptions& options) { options.max_connections = 1; });
  RawClient silent(tls.server->port());
  ASSERT_TRUE(eventually([&] { return tls.server->connections() == 1; }));
  RawClient client(tls.server->port());
  ASSERT_TRUE(client.send(kGetHello));
  EXPECT_EQ(status_of(client.read_response()), 400);
}

TEST(TlsFault, SlowHandshakesAreDroppedInTimeAndStallNobody) {
  TlsServer tls([](ServerOptions& options) { options.header_timeout = 500ms; });
  const auto began = Clock::now();
  std::vector<RawClient> silent;
  for (int i = 0; i < 50; ++i) {
    silent.emplace_back(tls.server->port());
    if (i % 2 == 0) {
      ASSERT_TRUE(silent.back().send(std::string("\x16\x03\x01\x02\x00\x01", 6)));
    }
  }
  TlsClient client(tls.server->port());
  ASSERT_TRUE(client.connected());
  ASSERT_TRUE(client.send(kGetHello));
  EXPECT_TRUE(client.read_response().ends_with("hello"));
  EXPECT_LT(Clock::now() - began, 450ms);
  // Bytes that trickle in do not buy more time.
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(100ms);
    silent[0].send("\x01");
  }
  for (RawClient& one : silent) {
    EXPECT_TRUE(one.closed_by_peer(3s) || one.reset());
  }
  EXPECT_LT(Clock::now() - began, 2s);
  EXPECT_TRUE(eventually([&] { return tls.failed("timeout") == 50; })) << tls.failed("timeout");
}

TEST(TlsFault, HandshakesCountAsConnections) {
  TlsServer tls([](ServerOptions& options) { options.max_connections = 2; });
  RawClient first(tls.server->port());
  RawClient second(tls.server->port());
  ASSERT_TRUE(eventually([&] { return tls.server->connections() == 2; }));
  TlsClient third(tls.server->port());
  EXPECT_EQ(status_of(third.read_all()), 503);
  first.close();
  EXPECT_TRUE(eventually([&] { return tls.failed("closed") == 1; }));
  TlsClient fourth(tls.server->port());
  ASSERT_TRUE(fourth.send(kGetHello));
  EXPECT_EQ(status_of(fourth.read_response()), 200);
}

TEST(TlsFault, RefusedBodyStillSeesItsAnswer) {
  TlsServer tls;
  TlsClient client(tls.server->port());
  const std::string body(8U << 20U, 'a');
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\n\r\n"));
  client.send(body);
  EXPECT_EQ(status_of(client.read_response()), 413);
  EXPECT_TRUE(client.closed_by_peer());
}

TEST(TlsFault, SlowHeadIs408) {
  TlsServer tls([](ServerOptions& options) { options.header_timeout = 300ms; });
  TlsClient client(tls.server->port());
  ASSERT_TRUE(client.send("GET /hello HTTP/1.1\r\nHo"));
  EXPECT_EQ(status_of(client.read_response()), 408);
  EXPECT_TRUE(client.closed_by_peer());
}

TEST(TlsFault, LeavingClientIsNoticed) {
  TlsServer tls;
  {
    TlsClient client(tls.server->port());
    ASSERT_TRUE(client.send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n"));
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_TRUE(eventually([&] { return tls.observed.gone == 1; }));
  EXPECT_TRUE(eventually([&] { return tls.server->connections() == 0; }));
}

TEST(TlsFault, ReaderThatTakesNothingIsDropped) {
  TlsServer tls([](ServerOptions& options) { options.write_timeout = 300ms; });
  TlsClient client(tls.server->port());
  ASSERT_TRUE(client.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(eventually([&] { return tls.observed.finished == 1; }));
  EXPECT_TRUE(eventually([&] { return tls.server->connections() == 0; }));
}

TEST(TlsFault, MutualTlsTakesOnlySignedClients) {
  TlsServer tls(nullptr, true);
  const TestCertificate good("client", &tls.authority);
  const TestCertificate stranger("stranger");
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(tls.server->port(), {.own = &good, .max_version = version});
    ASSERT_TRUE(client.connected());
    ASSERT_TRUE(client.send(kGetHello));
    EXPECT_TRUE(client.read_response().ends_with("hello"));
    for (const TestCertificate* bad : {static_cast<const TestCertificate*>(nullptr), &stranger}) {
      TlsClient refused(tls.server->port(), {.own = bad, .max_version = version});
      refused.send(kGetHello);
      EXPECT_EQ(refused.read_all(), "");
    }
  }
  EXPECT_TRUE(eventually([&] { return tls.failed("client_certificate") == 4; }));
}

TEST(TlsFault, DrainAndStopCloseHandshakes) {
  TlsServer tls;
  RawClient silent(tls.server->port());
  TlsClient idle(tls.server->port());
  TlsClient busy(tls.server->port());
  ASSERT_TRUE(busy.send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(eventually([&] { return tls.server->connections() == 3; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(tls.server->drain(300ms), 1U);
  EXPECT_TRUE(silent.closed_by_peer(1s) || silent.reset());
  const auto began = Clock::now();
  tls.server->stop();
  EXPECT_LT(Clock::now() - began, 3s);
  EXPECT_EQ(tls.observed.gone, 1);
  EXPECT_TRUE(tls.failures.empty());
}

TEST(TlsFault, BadFilesAreNamed) {
  testing::TemporaryDirectory directory;
  const TestCertificate one("one");
  const TestCertificate other("other");
  one.write_certificate(directory.file("one.pem"));
  one.write_key(directory.file("one.key"));
  one.write_key(directory.file("locked.key"), "secret");
  other.write_key(directory.file("other.key"));
  const std::string text = directory.write("text.pem", "no certificate\n");
  const auto message = [](const TlsFiles& files) {
    const auto loaded = TlsContext::load(files);
    return loaded ? "" : loaded.error().message;
  };
  const std::string cert = directory.file("one.pem");
  const std::string key = directory.file("one.key");
  EXPECT_EQ(message({cert, key, ""}), "");
  EXPECT_EQ(message({cert, key, cert}), "");
  for (const auto& [files, option, path, expected] :
       std::vector<std::tuple<TlsFiles, std::string, std::string, std::string>>{
           {{"/no/such", key, ""}, "tls_certificate", "/no/such", "a PEM certificate"},
           {{cert, "/no/such", ""}, "tls_key", "/no/such", "a PEM private key"},
           {{text, key, ""}, "tls_certificate", text, "a PEM certificate"},
           {{cert, text, ""}, "tls_key", text, "a PEM private key"},
           {{cert, directory.file("locked.key"), ""}, "tls_key", "locked.key", "passphrase"},
           {{cert, directory.file("other.key"), ""}, "tls_key", "other.key", "in " + cert},
           {{cert, key, text}, "tls_client_ca", text, "PEM certificates"},
           {{cert, key, "/no/such"}, "tls_client_ca", "/no/such", "PEM certificates"}}) {
    const std::string said = message(files);
    EXPECT_TRUE(said.starts_with(option)) << said;
    EXPECT_NE(said.find(path), std::string::npos) << said;
    EXPECT_NE(said.find(expected), std::string::npos) << said;
  }
}

TEST(TlsFault, NewCertificateServesNewConnectionsOnly) {
  TlsServer tls;
  TlsClient old(tls.server->port());
  EXPECT_EQ(old.server_name(), "first");
  tls.options.tls = tls.load(TestCertificate("second"));
  ASSERT_TRUE(tls.server->check_reconfigure(tls.options));
  tls.server->reconfigure(tls.options);
  EXPECT_EQ(TlsClient(tls.server->port()).server_name(), "second");
  ASSERT_TRUE(old.send(kGetHello));
  EXPECT_EQ(status_of(old.read_response()), 200);
  // A change that is refused changes nothing.
  ServerOptions wrong = tls.options;
  wrong.tls = tls.load(TestCertificate("third"));
  wrong.max_connections = 0;
  EXPECT_FALSE(tls.server->check_reconfigure(wrong));
  wrong.max_connections = 1;
  wrong.tls = nullptr;
  EXPECT_FALSE(tls.server->check_reconfigure(wrong));
  TlsClient last(tls.server->port());
  EXPECT_EQ(last.server_name(), "second");
  ASSERT_TRUE(last.send(kGetHello));
  EXPECT_EQ(status_of(last.read_response()), 200);
}

}  // namespace
}  // namespace daybreak::http
