// SPDX-License-Identifier: Apache-2.0
#pragma once

// LocalExchange: a request without a socket. A handler answers it as it would a client's, so that
// batches get exactly the answers that clients get.

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/exchange.h"

namespace daybreak::api {

// Every function runs on the strand given.
class LocalExchange final : public http::Exchange {
 public:
  LocalExchange(http::Request request, boost::asio::any_io_executor strand);

  // Runs the handler and returns its answer; 500 with what was thrown if it throws or does not
  // answer. Events of a stream are put together as one body. `handler` must outlive the call.
  http::Task<http::Response> answer(const http::Handler& handler);

  // As if the client had gone: what is being generated stops within one step.
  void leave();

  [[nodiscard]] const http::Request& request() const override { return request_; }
  [[nodiscard]] const std::vector<std::string>& parameters() const override { return parameters_; }
  [[nodiscard]] boost::asio::any_io_executor executor() const override { return strand_; }
  [[nodiscard]] bool client_gone() const override { return gone_; }
  void on_gone(std::function<void()> callback) override;
  http::Task<bool> respond(http::Response response) override;
  http::Task<bool> start_events(std::vector<http::Header> headers) override;
  http::Task<bool> send_events(std::string frames) override;
  void note(http::Note note) override { notes_.push_back(std::move(note)); }
  // Returns the value of the first note of that name; nothing: there is none.
  [[nodiscard]] std::optional<std::int64_t> noted(std::string_view name) const;

 private:
  const http::Request request_;
  const boost::asio::any_io_executor strand_;
  const std::vector<std::string> parameters_;
  std::function<void()> on_gone_;
  http::Response response_;
  std::vector<http::Note> notes_;
  bool answered_ = false;
  bool gone_ = false;
};

}  // namespace daybreak::api
