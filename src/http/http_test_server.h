// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server with small limits and one route per behaviour, shared by the tests of this module. Test
// code only.

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "http/server.h"
#include "testing/raw_client.h"

namespace daybreak::http {

struct Observed {
  std::atomic<int> gone{0};      // handlers whose client left
  std::atomic<int> finished{0};  // handlers that ran to their end
  std::atomic<int> held{0};      // requests to /hold that have been received
  std::mutex mutex;              // guards statuses and errors
  std::vector<int> statuses;
  std::vector<std::string> errors;
};

inline Task<void> wait_until_gone(Exchange& exchange, Observed& observed) {
  boost::asio::steady_timer timer(exchange.executor(),
                                  std::chrono::steady_clock::time_point::max());
  exchange.on_gone([&timer, &observed] {
    ++observed.gone;
    timer.cancel();
  });
  co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  exchange.on_gone(nullptr);
  ++observed.finished;
}

inline Router test_router(Observed& observed) {
  Router router;
  router.add("GET", "/hello", [](Exchange& exchange) -> Task<void> {
    Response response{.content_type = "text/plain", .body = "hello"};
    co_await exchange.respond(std::move(response));
  });
  router.add("POST", "/echo", [](Exchange& exchange) -> Task<void> {
    Response response{.content_type = "text/plain", .body = exchange.request().body};
    co_await exchange.respond(std::move(response));
  });
  router.add("GET", "/throws", [](Exchange&) -> Task<void> {
    throw std::runtime_error("as bad_alloc would");
    co_return;
  });
  router.add("GET", "/silent", [](Exchange&) -> Task<void> { co_return; });
  router.add("GET", "/hang", [&observed](Exchange& exchange) -> Task<void> {
    co_await wait_until_gone(exchange, observed);
  });
  router.add("POST", "/hold", [&observed](Exchange& exchange) -> Task<void> {
    ++observed.held;
    co_await wait_until_gone(exchange, observed);
  });
  router.add("GET", "/three", [](Exchange& exchange) -> Task<void> {
    co_await exchange.start_events({});
    for (int i = 1; i <= 3; ++i) {
      std::string frame = "data: " + std::to_string(i) + "\n\n";
      co_await exchange.send_events(std::move(frame));
    }
  });
  router.add("GET", "/endless", [&observed](Exchange& exchange) -> Task<void> {
    bool there = co_await exchange.start_events({});
    while (there) {
      std::string frame = "data: " + std::string(16384, 'x') + "\n\n";
      there = co_await exchange.send_events(std::move(frame));
    }
    ++observed.finished;
  });
  return router;
}

inline ServerOptions test_options(Observed& observed) {
  ServerOptions options;
  options.limits = {.head_bytes = 2048, .body_bytes = 4096};
  options.on_finished = [&observed](const AccessRecord& record) {
    const std::lock_guard lock(observed.mutex);
    observed.statuses.push_back(record.status);
    if (!record.error.empty()) {
      observed.errors.emplace_back(record.error);
    }
  };
  return options;
}

inline std::unique_ptr<Server> started(ServerOptions options, Observed& observed) {
  auto server = Server::start(std::move(options), test_router(observed));
  EXPECT_TRUE(server) << (server ? "" : server.error().message);
  return *std::move(server);
}

// Waits until `condition` holds; returns whether it did within a generous time.
template <class F>
bool eventually(F condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline constexpr std::string_view kGetHello = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";

}  // namespace daybreak::http
