// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connection: one client, from accept to close. Reads a request, runs its handler, writes the
// answer, again and again; private to the server. All of it runs on one strand.
//
// While a handler runs, the socket is also watched for reading: pipelined bytes are kept (up to a
// bound), an end of stream or an error means that the client is gone, and the handler is told.

#include <array>
#include <atomic>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/body_budget.h"
#include "http/browser_guard.h"
#include "http/deadline.h"
#include "http/exchange.h"
#include "http/live_options.h"
#include "http/request_parser.h"
#include "http/router.h"
#include "http/server_options.h"
#include "http/transport.h"

namespace daybreak::http {

// What all connections of a server share; outlives them.
struct ConnectionContext {
  ServerOptions options;
  Router router;
  LiveOptions live{options};            // what of the options can change
  std::optional<BrowserGuard> guard{};  // set once bound
  std::atomic<bool> draining{false};    // no request after the current one
  BodyBudget bodies{};
};

class Connection final : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  // `socket` has a strand as its executor. `tls` may be null: plain.
  Connection(ConnectionContext& context, boost::asio::ip::tcp::socket socket,
             const TlsContext* tls);
  ~Connection() override { release_body(); }

  // Serves until either side closes.
  Task<void> run();
  // Tells the client that there are too many connections, and closes.
  Task<void> shed();

  // Closes now if no request is being received or answered. Call on the strand.
  void close_if_idle();
  // Closes now; a running handler sees its client gone. Call on the strand.
  void abort();

  const Request& request() const override { return request_; }
  const std::vector<std::string>& parameters() const override { return match_.parameters; }
  boost::asio::any_io_executor executor() const override;
  bool client_gone() const override { return gone_; }
  void on_gone(std::function<void()> callback) override;
  Task<bool> respond(Response response) override;
  Task<bool> start_events(std::vector<Header> headers) override;
  Task<bool> send_events(std::string frames) override;
  void note(Note note) override { notes_.push_back(std::move(note)); }

 private:
  enum class Sent { kNothing, kEvents, kAll };

  void start_deadline();
  Task<bool> handshake();
  Task<bool> read_request();
  Task<bool> read_some();
  Task<bool> begin_body(RequestParser& parser);
  bool hold_body(std::size_t bytes);
  void release_body();
  Task<void> refuse(int status, std::string message, std::optional<Request> head);
  Task<void> answer();
  Task<void> dispatch();
  Task<void> respond_options();
  Task<void> finish_answer();
  Task<bool> write(std::string_view bytes);
  Task<void> linger();

  void begin_request();
  void watch();
  Task<void> stop_watching();
  void expired();
  void go_away();
  void report();
  std::string head(int status, std::string_view content_type) const;
  Response error_response(int status, std::string_view message) const;

  ConnectionContext& context_;
  Transport transport_;
  const std::string client_;  // IP address; asked for at once, because a closed socket has none
  std::shared_ptr<Deadline> deadline_;
  boost::asio::steady_timer watch_stopped_;
  boost::asio::cancellation_signal watch_cancel_;
  std::array<char, 8192> chunk_{};
  std::string in_;  // received, not yet consumed

  Request request_;
  std::size_t held_ = 0;  // of the budget, for its body
  Router::Match match_;
  std::vector<Note> notes_;
  std::string error_;  // what the handler threw
  std::function<void()> on_gone_;
  std::chrono::steady_clock::time_point began_;
  int status_ = 0;
  Sent sent_ = Sent::kNothing;
  bool handshaking_ = false;
  bool receiving_ = false;  // part of a request has arrived
  bool answering_ = false;
  bool watching_ = false;
  bool keep_alive_ = true;
  bool timed_out_ = false;  // while reading
  bool gone_ = false;       // the client stopped sending
  bool dropped_ = false;    // a part of this answer was not taken by the client
  bool broken_ = false;     // nothing can be written any more
};

}  // namespace daybreak::http
