// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "http/response_head.h"
#include "http/trace_context.h"

namespace daybreak::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using State = RequestParser::State;

namespace {

// Errors come back as values: a client that leaves is no exception.
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kCancelAgain{100};

std::string peer_address(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  return error ? std::string() : peer.address().to_string();
}

}  // namespace

Connection::Connection(ConnectionContext& context, tcp::socket socket, const TlsContext* tls)
    : context_(context),
      transport_(std::move(socket), tls),
      client_(peer_address(transport_.socket())),
      deadline_(std::make_shared<Deadline>(transport_.executor())),
      watch_stopped_(transport_.executor()) {}

asio::any_io_executor Connection::executor() const {
  return const_cast<Transport&>(transport_).executor();  // NOLINT: not const in this library
}

Task<void> Connection::run() {
  start_deadline();
  const bool open = co_await handshake();
  while (open && co_await read_request()) {
    co_await answer();
    if (!keep_alive_ || gone_ || broken_) {
      break;
    }
  }
  co_await linger();
  deadline_->stop();
}

Task<void> Connection::shed() {
  start_deadline();
  if (co_await handshake()) {
    begin_request();
    co_await refuse(
        503, "too many connections, the limit is " + std::to_string(context_.live.max_connections),
        std::nullopt);
  }
  co_await linger();
  deadline_->stop();
}

void Connection::start_deadline() {
  // The action holds the connection weakly: it must not keep alive what it is a part of.
  deadline_->start([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->expired();
    }
  });
}

// Returns whether requests can be read; what went wrong has been told to the hook, and to a client
// that speaks plain HTTP in its own words.
Task<bool> Connection::handshake() {
  if (!transport_.secure()) {
    co_return true;
  }
  deadline_->set(context_.live.header_timeout.load());
  handshaking_ = true;
  const error_code error = co_await transport_.handshake();
  handshaking_ = false;
  deadline_->clear();
  if (!error) {
    co_return !broken_;
  }
  // Also what a drain or a stop has closed: nobody is to be told about that.
  const bool ours = broken_ && !timed_out_;
  if (!ours && context_.options.on_handshake_failed) {
    context_.options.on_handshake_failed(timed_out_ ? "timeout" : handshake_failure(error));
  }
  if (error == plain_http() && !broken_) {
    begin_request();
    co_await refuse(400, "this port speaks TLS: use https://", std::nullopt);
  }
  co_return false;
}

void Connection::close_if_idle() {
  if (!receiving_ && !answering_) {
    abort();
  }
}

void Connection::abort() {
  broken_ = true;
  error_code ignored;
  transport_.socket().close(ignored);
  go_away();
}

void Connection::go_away() {
  gone_ = true;
  if (on_gone_) {
    // Moved out first: the callback may set another.
    const auto callback = std::exchange(on_gone_, nullptr);
    callback();
  }
}

void Connection::on_gone(std::function<void()> callback) {
  on_gone_ = std::move(callback);
  if (gone_) {
    go_away();
  }
}

// A slow sender is told so (408); a reader that takes nothing can only be dropped, and a client
// that does not finish its handshake could not read an answer.
void Connection::expired() {
  timed_out_ = !answering_;
  if (answering_ || handshaking_) {
    return abort();
  }
  error_code ignored;
  transport_.socket().cancel(ignored);
  // Once more, should the read have been between two parts just now.
  deadline_->set(kCancelAgain);
}

// ---- receiving --------------------------------------------------------------------------------

void Connection::begin_request() {
  request_ = {};
  release_body();
  match_ = {};
  match_.route = "malformed";
  notes_.clear();
  error_.clear();
  status_ = 0;
  sent_ = Sent::kNothing;
  dropped_ = false;
  receiving_ = false;
  began_ = std::chrono::steady_clock::now();
}

Task<bool> Connection::read_some() {
  const auto [error, count] = co_await transport_.async_read_some(asio::buffer(chunk_), kAwait);
  if (error) {
    gone_ = !timed_out_;
    broken_ = broken_ || (gone_ && error != asio::error::eof);
    co_return false;
  }
  in_.append(chunk_.data(), count);
  co_return true;
}

// Returns whether a complete request is in request_. Otherwise the connection is to be closed, and
// what was wrong has been answered.
Task<bool> Connection::read_request() {
  begin_request();
  RequestParser parser(context_.live.request_limits());
  deadline_->set(context_.live.idle_timeout.load());
  for (;;) {
    in_.erase(0, parser.feed(in_));
    if (parser.state() == State::kHeadDone) {
      if (!co_await begin_body(parser)) {
        co_return false;
      }
      continue;
    }
    if (parser.state() != State::kFailed && !hold_body(parser.body_bytes())) {
      if (context_.options.on_body_refused) {
        context_.options.on_body_refused();
      }
      co_await refuse(503,
                      "the requests that are being received and answered take all the memory "
                      "there is for their bodies, try again later",
                      parser.head());
      co_return false;
    }
    if (parser.state() == State::kFailed) {
      co_await refuse(parser.refusal().status, parser.refusal().message, parser.head());
      co_return false;
    }
    if (parser.state() == State::kDone) {
      request_ = parser.take();
      deadline_->clear();
      co_return true;
    }
    if (!receiving_ && !in_.empty()) {
      receiving_ = true;
      began_ = std::chrono::steady_clock::now();
      deadline_->set(context_.live.header_timeout.load());
    }
    if (!co_await read_some()) {
      if (timed_out_ && receiving_) {
        co_await refuse(408,
                        parser.state() == State::kHead ? "the request head did not arrive in time"
                                                       : "the request body did not arrive in time",
                        parser.head());
      }
      co_return false;
    }
    if (!receiving_ && !in_.empty()) {
      receiving_ = true;
      began_ = std::chrono::steady_clock::now();
      deadline_->set(context_.live.header_timeout.load());
    }
  }
}

// Takes what the body has grown by. Returns whether there was as much.
bool Connection::hold_body(std::size_t bytes) {
  const std::size_t wanted = bytes - std::min(bytes, kFreeBodyBytes);
  const std::size_t limit =
      std::max(context_.options.max_bodies_bytes, context_.live.body_bytes.load());
  if (wanted <= held_ || !context_.bodies.take(wanted - held_, limit)) {
    return wanted <= held_;
  }
  held_ = wanted;
  return true;
}

void Connection::release_body() { context_.bodies.give(std::exchange(held_, 0)); }

// The head is good: sends "100 Continue" if the client waits for it.
Task<bool> Connection::begin_body(RequestParser& parser) {
  receiving_ = true;
  if (parser.wants_continue() && in_.empty()) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    if (!co_await write(kContinue)) {
      co_return false;
    }
  }
  parser.continue_body();
  deadline_->set(context_.live.body_timeout.load());
  co_return true;
}

// ---- watching for the client to leave ----------------------------------------------------------

void Connection::watch() {
  if (in_.size() >= kMaxPipelinedBytes) {
    return;  // an impatient client: its leaving shows on the next write
  }
  watching_ = true;
  auto on_read = [self = shared_from_this()](error_code error, std::size_t count) {
    self->watching_ = false;
    self->in_.append(self->chunk_.data(), count);
    self->watch_stopped_.cancel();
    if (error && error != asio::error::operation_aborted) {
      // Also when the answer is out already: the reactor reports the end of a stream once, so a
      // later read would wait for it until the idle timeout.
      self->broken_ = self->broken_ || error != asio::error::eof;
      self->go_away();
    } else if (self->answering_) {
      self->watch();
    }
  };
  transport_.async_read_some(
      asio::buffer(chunk_), asio::bind_cancellation_slot(watch_cancel_.slot(), std::move(on_read)));
}

Task<void> Connection::stop_watching() {
  answering_ = false;
  // The one kind that a read through TLS obeys too; what it has received stays in its buffers.
  watch_cancel_.emit(asio::cancellation_type::terminal);
  while (watching_) {
    watch_stopped_.expires_at(std::chrono::steady_clock::time_point::max());
    co_await watch_stopped_.async_wait(kAwait);
  }
}

// ---- answering --------------------------------------------------------------------------------

Task<void> Connection::answer() {
  keep_alive_ = request_.keep_alive && !context_.draining;
  request_.id = request_id(request_.header("x-request-id"));
  request_.trace_id = trace_id(request_.header("traceparent"));
  match_ = context_.router.find(request_.method, request_.path);
  answering_ = true;
  watch();
  co_await dispatch();
  co_await finish_answer();
  co_await stop_watching();
  report();
}

Task<bool> Connection::write(std::string_view bytes) {
  while (!bytes.empty() && !broken_) {
    const std::string_view slice = bytes.substr(0, kWriteSlice);
    deadline_->set(context_.live.write_timeout.load());
    const auto [error, count] = co_await transport_.async_write(asio::buffer(slice), kAwait);
    if (error) {
      broken_ = true;
      go_away();
    }
    bytes.remove_prefix(count);
  }
  deadline_->clear();
  co_return !broken_;
}

// `head` of the request, if it has been read.
Task<void> Connection::refuse(int status, std::string message, std::optional<Request> head) {
  request_ = std::move(head).value_or(Request());
  answering_ = true;  // from here on a missed deadline drops the client
  keep_alive_ = false;
  request_.id = request_id(request_.header("x-request-id"));
  request_.trace_id = trace_id(request_.header("traceparent"));
  co_await respond(error_response(status, message));
  report();
  answering_ = false;
}

// Closes so that the client can still read the answer: a close with unread input would reset the
// connection and throw the answer away.
Task<void> Connection::linger() {
  release_body();  // what has been read of it is gone
  error_code error;
  if (!broken_) {
    timed_out_ = false;
    deadline_->set(kLingerTime);
    co_await transport_.finish();
    // Of a TLS connection this is what is still encrypted: it is only thrown away.
    tcp::socket& socket = transport_.socket();
    for (std::size_t total = 0; !error && !gone_ && total < kMaxLingerBytes;) {
      const auto [failure, count] = co_await socket.async_read_some(asio::buffer(chunk_), kAwait);
      error = failure;
      total += count;
    }
  }
  transport_.socket().close(error);
}

}  // namespace daybreak::http
