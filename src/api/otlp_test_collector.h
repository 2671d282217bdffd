// SPDX-License-Identifier: Apache-2.0
#pragma once

// A collector of OTLP/HTTP that keeps what it is sent and answers as it is told to. Test code only.

#include <gtest/gtest.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/telemetry.h"
#include "http/server.h"

namespace daybreak::api {

struct CollectorReply {
  int status = 200;
  std::string body = "{}";
  std::vector<http::Header> headers = {};
  std::chrono::milliseconds delay{0};
};

class TestCollector {
 public:
  TestCollector() {
    ::setenv("no_proxy", "127.0.0.1", 1);
    http::Router router;
    for (const char* path : {"/v1/traces", "/v1/metrics"}) {
      router.add("POST", path, [this](http::Exchange& exchange) { return take(exchange); });
    }
    http::ServerOptions options;
    options.limits.body_bytes = std::size_t{64} << 20U;
    auto started = http::Server::start(std::move(options), std::move(router));
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    server_ = *std::move(started);
  }

  // Exports quickly, so that tests need not wait.
  [[nodiscard]] TelemetryOptions options() const {
    TelemetryOptions out;
    out.exporter.traces_url = server_->url() + "/v1/traces";
    out.exporter.metrics_url = server_->url() + "/v1/metrics";
    out.exporter.source = {
        .resource = {{"service.name", "test"}}, .scope = "daybreak", .version = "1.2.3"};
    out.exporter.schedule_delay = std::chrono::milliseconds(5);
    out.exporter.first_backoff = std::chrono::milliseconds(1);
    return out;
  }

  // The next calls are answered so; those after them with 200.
  void answer(std::vector<CollectorReply> replies) {
    const std::lock_guard lock(mutex_);
    replies_.insert(replies_.end(), replies.begin(), replies.end());
  }

  // Every call so far, refused ones included.
  [[nodiscard]] std::vector<http::Request> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // The spans of all calls, in order.
  [[nodiscard]] std::vector<nlohmann::json> spans() const {
    std::vector<nlohmann::json> out;
    for (const http::Request& call : calls()) {
      if (call.path == "/v1/traces") {
        const auto body = nlohmann::json::parse(call.body);
        for (const auto& span : body["resourceSpans"][0]["scopeSpans"][0]["spans"]) {
          out.push_back(span);
        }
      }
    }
    return out;
  }
  // The metrics of the last call that had some.
  [[nodiscard]] nlohmann::json metrics() const {
    nlohmann::json out;
    for (const http::Request& call : calls()) {
      if (call.path == "/v1/metrics") {
        out = nlohmann::json::parse(call.body)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
      }
    }
    return out;
  }

 private:
  http::Task<void> take(http::Exchange& exchange) {
    CollectorReply reply;
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(exchange.request());
      if (!replies_.empty()) {
        reply = std::move(replies_.front());
        replies_.pop_front();
      }
    }
    boost::asio::steady_timer timer(exchange.executor(), reply.delay);
    exchange.on_gone([&timer] { timer.cancel(); });
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    exchange.on_gone(nullptr);
    http::Response response{.status = reply.status, .body = reply.body, .headers = reply.headers};
    co_await exchange.respond(std::move(response));
  }

  mutable std::mutex mutex_;  // guards what follows
  std::vector<http::Request> calls_;
  std::deque<CollectorReply> replies_;
  std::unique_ptr<http::Server> server_;
};

// The value of an attribute of a span or a point: its text, whatever its type; "" without one.
inline std::string attribute_of(const nlohmann::json& item, const std::string& key) {
  for (const auto& one : item["attributes"]) {
    if (one["key"] == key) {
      const auto& value = one["value"].front();
      return value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
  return "";
}

}  // namespace daybreak::api
