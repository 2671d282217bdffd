// SPDX-License-Identifier: Apache-2.0
// Many clients at once, some leaving in the middle, while the server is drained: for the race
// detector.

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "http/http_test_server.h"

namespace daybreak::http {
namespace {

using testing::RawClient;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(ServerThreads, ManyClientsAndADrainAtOnce) {
  Observed observed;
  ServerOptions options = test_options(observed);
  options.threads = 4;
  const auto server = started(std::move(options), observed);
  std::atomic<int> answered{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 25; ++i) {
        RawClient client(server->port());
        const bool leaves = (i + c) % 3 == 0;
        client.send(leaves ? "GET /hang HTTP/1.1\r\nHost: x\r\n\r\n" : kGetHello);
        if (!leaves && testing::status_of(client.read_response(5s)) == 200) {
          ++answered;
        }
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return answered > 20; }));
  for (int i = 0; i < 10; ++i) {
    (void)server->connections();
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_GT(answered, 100);
  server->drain(5s);
  server->stop();
  EXPECT_EQ(server->connections(), 0U);
}

TEST(ServerThreads, StopWhileClientsConnect) {
  Observed observed;
  const auto server = started(test_options(observed), observed);
  std::atomic<bool> done{false};
  std::thread client([&] {
    while (!done) {
      RawClient one(server->port());
      one.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n");
      one.read_until("data", 100ms);
    }
  });
  std::this_thread::sleep_for(200ms);
  server->stop();
  done = true;
  client.join();
}

}  // namespace
}  // namespace daybreak::http
