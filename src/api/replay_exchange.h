// SPDX-License-Identifier: Apache-2.0
#pragma once

// ReplayExchange: the exchange of a request that makes an answer which others may ask for too. Its
// client may leave: the handler is told only when nobody has asked again for as long as the grace.

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/replay_store.h"
#include "http/exchange.h"

namespace daybreak::api {

// Every function runs on the client's strand. Held by a shared_ptr, since timers and other strands
// call back; detach() before the client's exchange ends.
class ReplayExchange final : public http::Exchange,
                             public std::enable_shared_from_this<ReplayExchange> {
 public:
  // `call` is one that claim() has given to its maker; `client` and `store` outlive the handler.
  ReplayExchange(http::Exchange& client, ReplayStore& store, ReplayStore::CallPtr call);

  // Begins to look after the client.
  void attach();
  // Ends the call, without an answer if there was none, and lets go of the client.
  void detach();

  [[nodiscard]] const http::Request& request() const override { return client_.request(); }
  [[nodiscard]] const std::vector<std::string>& parameters() const override {
    return client_.parameters();
  }
  [[nodiscard]] boost::asio::any_io_executor executor() const override {
    return client_.executor();
  }
  [[nodiscard]] bool client_gone() const override { return given_up_; }
  void on_gone(std::function<void()> callback) override;
  http::Task<bool> respond(http::Response response) override;
  http::Task<bool> start_events(std::vector<http::Header> headers) override;
  http::Task<bool> send_events(std::string frames) override;
  void note(http::Note note) override { client_.note(std::move(note)); }

 private:
  void client_left();
  void wait_for_others();
  void give_up();
  void stop_listening(bool heard);

  http::Exchange& client_;
  ReplayStore& store_;
  const ReplayStore::CallPtr call_;
  boost::asio::steady_timer grace_;
  std::function<void()> on_gone_;
  bool attached_ = false;
  bool listening_ = true;  // the client is one of the call's listeners
  bool given_up_ = false;
};

}  // namespace daybreak::api
