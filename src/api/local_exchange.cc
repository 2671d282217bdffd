// SPDX-License-Identifier: Apache-2.0
#include "api/local_exchange.h"

#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "api/error_reply.h"

namespace daybreak::api {

using http::Task;

LocalExchange::LocalExchange(http::Request request, boost::asio::any_io_executor strand)
    : request_(std::move(request)), strand_(std::move(strand)) {}

Task<http::Response> LocalExchange::answer(const http::Handler& handler) {
  std::string fault = "the request got no answer";
  try {
    co_await handler(*this);
  } catch (const std::exception& e) {
    answered_ = false;
    fault = e.what();
  }
  on_gone_ = nullptr;
  co_return answered_ ? std::move(response_) : error_response({Errc::kIo, std::move(fault)});
}

void LocalExchange::leave() {
  gone_ = true;
  if (const auto callback = std::exchange(on_gone_, nullptr)) {
    callback();
  }
}

void LocalExchange::on_gone(std::function<void()> callback) {
  on_gone_ = std::move(callback);
  if (gone_ && on_gone_) {
    std::exchange(on_gone_, nullptr)();
  }
}

std::optional<std::int64_t> LocalExchange::noted(std::string_view name) const {
  const auto found = std::ranges::find(notes_, name, &http::Note::name);
  return found == notes_.end() ? std::nullopt : std::optional(found->value);
}

Task<bool> LocalExchange::respond(http::Response response) {
  response_ = std::move(response);
  answered_ = true;
  co_return !gone_;
}

Task<bool> LocalExchange::start_events(std::vector<http::Header> headers) {
  response_.content_type = "text/event-stream";
  response_.headers = std::move(headers);
  answered_ = true;
  co_return !gone_;
}

Task<bool> LocalExchange::send_events(std::string frames) {
  response_.body += frames;
  co_return !gone_;
}

}  // namespace daybreak::api
