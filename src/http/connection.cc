// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "http/cors.h"
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

// Returns whether requests can be read; what went wrong has been told to the hook.
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

Task<void> Connection::dispatch() {
  if (context_.guard) {
    if (const auto refusal = context_.guard->judge(request_); refusal.status != 200) {
      co_await respond(error_response(refusal.status, refusal.message));
      co_return;
    }
  }
  if (request_.method == "OPTIONS" && (!match_.allow.empty() || request_.path == "*")) {
    co_return co_await respond_options();
  }
  if (match_.allow.empty()) {
    co_await respond(error_response(404, "no such path: " + request_.path));
    co_return;
  }
  if (match_.handler == nullptr) {
    Response response = error_response(
        405, request_.path + " does not take " + request_.method + ", only " + match_.allow);
    response.headers.push_back({"Allow", match_.allow});
    co_await respond(std::move(response));
    co_return;
  }
  bool failed = false;
  try {
    co_await (*match_.handler)(*this);
  } catch (const std::exception& e) {
    failed = true;  // such as bad_alloc; answered outside, where awaiting is allowed
    error_ = e.what();
  }
  if (failed && sent_ != Sent::kNothing) {
    abort();
  }
}

Task<void> Connection::respond_options() {
  Response response{.status = 204, .content_type = "", .body = "", .headers = {}};
  response.headers.push_back(
      {"Allow", match_.allow.empty() ? "GET, HEAD, POST, OPTIONS" : match_.allow});
  if (!context_.options.cors_origin.empty()) {
    response.headers.push_back({"Access-Control-Allow-Methods", match_.allow});
    response.headers.push_back(
        {"Access-Control-Allow-Headers",
         cors_allowed_headers(request_.header("access-control-request-headers"))});
    response.headers.push_back({"Access-Control-Max-Age", "600"});
  }
  co_await respond(std::move(response));
}

// Completes what the handler began.
Task<void> Connection::finish_answer() {
  if (sent_ == Sent::kNothing && gone_) {
    dropped_ = true;
  } else if (sent_ == Sent::kNothing) {
    co_await respond(error_response(500, "internal error, see the log for " + request_.id));
  }
  if (sent_ == Sent::kEvents && request_.version == 11) {
    constexpr std::string_view kLastChunk = "0\r\n\r\n";
    co_await write(kLastChunk);
  }
  sent_ = Sent::kAll;
}

Task<bool> Connection::respond(Response response) {
  const bool was_there = !gone_;
  status_ = response.status;
  sent_ = Sent::kAll;
  if (response.status == 503 && context_.draining) {
    keep_alive_ = false;
  }
  std::string bytes = head(response.status, response.content_type);
  for (const Header& header : response.headers) {
    append_header(bytes, header.name, header.value);
  }
  if (response.status != 204) {
    append_header(bytes, "Content-Length", std::to_string(response.body.size()));
  }
  bytes += "\r\n";
  if (request_.method != "HEAD" && response.status != 204) {
    bytes += response.body;
  }
  dropped_ = !co_await write(bytes);
  co_return was_there && !dropped_;
}

Task<bool> Connection::start_events(std::vector<Header> headers) {
  status_ = 200;
  sent_ = Sent::kEvents;
  keep_alive_ = keep_alive_ && request_.version == 11;
  std::string bytes = head(200, "text/event-stream; charset=utf-8");
  append_header(bytes, "Cache-Control", "no-cache");
  for (const Header& header : headers) {
    append_header(bytes, header.name, header.value);
  }
  append_header(bytes, "X-Accel-Buffering", "no");  // a proxy that collects would defeat streaming
  if (request_.version == 11) {
    append_header(bytes, "Transfer-Encoding", "chunked");
  }
  bytes += "\r\n";
  co_return co_await write(bytes) && !gone_;
}

Task<bool> Connection::send_events(std::string frames) {
  if (gone_ || frames.empty()) {
    dropped_ = dropped_ || !frames.empty();
    co_return !gone_;
  }
  if (request_.version == 11) {
    frames.insert(0, chunk_head(frames.size()));
    frames += "\r\n";
  }
  dropped_ = !co_await write(frames);
  co_return !dropped_ && !gone_;
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

void Connection::report() {
  if (!context_.options.on_finished) {
    return;
  }
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - began_);
  context_.options.on_finished({.id = request_.id,
                                .client = client_,
                                .trace_id = request_.trace_id,
                                .method = known_method(request_.method),
                                .route = match_.route,
                                .status = dropped_ ? 499 : status_,
                                .duration = duration,
                                .notes = notes_,
                                .error = error_});
}

std::string Connection::head(int status, std::string_view content_type) const {
  std::string out = status_line(status);
  append_header(out, "x-request-id", request_.id);
  append_header(out, "x-trace-id", request_.trace_id.empty() ? request_.id : request_.trace_id);
  if (!request_.trace_id.empty()) {
    append_header(out, "traceparent", request_.header("traceparent"));
  }
  for (const Header& header : context_.options.headers) {
    append_header(out, header.name, header.value);
  }
  append_header(out, "Date", http_date(std::chrono::system_clock::now()));
  if (!content_type.empty()) {
    append_header(out, "Content-Type", content_type);
  }
  if (!keep_alive_) {
    append_header(out, "Connection", "close");
  } else if (request_.version == 10) {
    append_header(out, "Connection", "keep-alive");
  }
  if (const std::string& origin = context_.options.cors_origin; !origin.empty()) {
    append_header(out, "Access-Control-Allow-Origin", origin);
    append_header(out, "Access-Control-Expose-Headers", kExposedHeaders);
    if (origin != "*") {
      append_header(out, "Vary", "Origin");
    }
  }
  return out;
}

Response Connection::error_response(int status, std::string_view message) const {
  if (context_.options.error_reply) {
    return context_.options.error_reply(request_, status, message);
  }
  Response response{
      .status = status, .content_type = "text/plain", .body = std::string(message) + "\n"};
  if (status == 503) {
    response.headers.push_back({"Retry-After", "1"});
  }
  return response;
}

}  // namespace daybreak::http
