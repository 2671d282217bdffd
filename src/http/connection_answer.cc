// SPDX-License-Identifier: Apache-2.0
// What a connection sends: who answers a request, heads, bodies and events, and its line in the
// log.

#include <exception>
#include <utility>

#include "base/json_document.h"
#include "http/connection.h"
#include "http/cors.h"
#include "http/response_head.h"

namespace daybreak::http {

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
  if (const std::string_view coding = request_.header("content-encoding");
      !coding.empty() && !same_name(coding, "identity")) {
    co_await respond(error_response(
        415, "Content-Encoding: expected a body as it is, found '" + printable(coding) + "'"));
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
