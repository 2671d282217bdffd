// SPDX-License-Identifier: Apache-2.0
// Many TLS clients while certificates and limits are exchanged under them: for the race detector.

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "http/tls_test_server.h"

namespace daybreak::http {
namespace {

using testing::status_of;
using std::chrono_literals::operator""ms;

TEST(TlsThreads, ReloadsUnderLoadLoseNoRequest) {
  TlsServer tls([](ServerOptions& options) { options.threads = 4; });
  const std::vector<std::shared_ptr<TlsContext>> certificates = {tls.load(TestCertificate("a")),
                                                                 tls.load(TestCertificate("b"))};
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::atomic<int> left{6};
  std::vector<std::thread> clients;
  for (int c = 0; c < 6; ++c) {
    clients.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        TlsClient client(tls.server->port());
        for (int request = 0; request < 4; ++request) {
          client.send(kGetHello);
          ++(status_of(client.read_response()) == 200 ? answered : wrong);
        }
      }
      --left;
    });
  }
  std::size_t reloads = 0;
  while (left > 0) {
    tls.options.tls = certificates[++reloads % 2];
    tls.options.write_timeout = 10'000ms + std::chrono::milliseconds(reloads % 7);
    tls.server->reconfigure(tls.options);
    std::this_thread::sleep_for(1ms);
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(answered, 600);
  EXPECT_GT(reloads, 20U);
}

TEST(TlsThreads, LeavingClientsDuringADrain) {
  TlsServer tls([](ServerOptions& options) { options.threads = 4; });
  std::vector<std::thread> clients;
  std::atomic<bool> done{false};
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; !done; ++i) {
        TlsClient client(tls.server->port());
        client.send((i + c) % 2 == 0 ? "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n" : kGetHello);
        client.read_until("data");
      }
    });
  }
  std::this_thread::sleep_for(300ms);
  tls.server->drain(50ms);
  tls.server->stop();
  done = true;
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(tls.server->connections(), 0U);
}

}  // namespace
}  // namespace daybreak::http
