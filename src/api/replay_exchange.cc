// SPDX-License-Identifier: Apache-2.0
#include "api/replay_exchange.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace daybreak::api {

using http::Task;

ReplayExchange::ReplayExchange(http::Exchange& client, ReplayStore& store,
                               ReplayStore::CallPtr call)
    : client_(client), store_(store), call_(std::move(call)), grace_(client.executor()) {}

void ReplayExchange::attach() {
  attached_ = true;
  // Others leave on strands of their own.
  store_.on_silence(call_, [weak = weak_from_this(), strand = client_.executor()] {
    boost::asio::post(strand, [weak] {
      if (const auto self = weak.lock()) {
        self->wait_for_others();
      }
    });
  });
  client_.on_gone([this] { client_left(); });
}

void ReplayExchange::detach() {
  attached_ = false;
  grace_.cancel();
  on_gone_ = nullptr;
  client_.on_gone(nullptr);
  stop_listening(false);
  store_.finish(call_, nullptr);
}

void ReplayExchange::on_gone(std::function<void()> callback) {
  on_gone_ = std::move(callback);
  if (given_up_ && on_gone_) {
    std::exchange(on_gone_, nullptr)();
  }
}

void ReplayExchange::client_left() { stop_listening(false); }

void ReplayExchange::stop_listening(bool heard) {
  if (std::exchange(listening_, false)) {
    store_.leave(call_, 0, heard);
  }
}

// Nobody listens any more: whoever comes in time takes over.
void ReplayExchange::wait_for_others() {
  if (!attached_ || given_up_) {
    return;
  }
  if (store_.grace().count() == 0) {
    return give_up();
  }
  grace_.expires_after(store_.grace());
  grace_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    if (const auto self = weak.lock(); self != nullptr && !cancelled) {
      self->give_up();
    }
  });
}

void ReplayExchange::give_up() {
  if (!attached_ || given_up_ || !store_.give_up(call_)) {
    return;
  }
  given_up_ = true;
  if (const auto callback = std::exchange(on_gone_, nullptr)) {
    callback();
  }
}

Task<bool> ReplayExchange::respond(http::Response response) {
  if (response.status != 200) {
    store_.finish(call_, nullptr);
    co_return co_await client_.respond(std::move(response));
  }
  store_.finish(call_, std::make_shared<const http::Response>(response));
  client_.on_gone(nullptr);  // from here on the answer's way tells whether it was heard
  const bool heard = co_await client_.respond(std::move(response));
  stop_listening(heard);
  co_return heard;
}

// A stream is nobody else's: whoever asked for the same one makes his own.
Task<bool> ReplayExchange::start_events(std::vector<http::Header> headers) {
  store_.finish(call_, nullptr);
  co_return co_await client_.start_events(std::move(headers));
}

Task<bool> ReplayExchange::send_events(std::string frames) {
  co_return co_await client_.send_events(std::move(frames));
}

}  // namespace daybreak::api
