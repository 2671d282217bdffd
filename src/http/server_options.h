// SPDX-License-Identifier: Apache-2.0
#pragma once

// ServerOptions: every bound and every wait of the HTTP server, and the two hooks through which the
// layer above gives errors their shape and sees what happened.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"
#include "http/request_parser.h"
#include "http/tls_context.h"

namespace daybreak::http {

// One finished request, for the access log and metrics. Valid during the call.
struct AccessRecord {
  std::string_view id;
  std::string_view client;    // IP address of the peer, be it a proxy; empty: it had gone at once
  std::string_view trace_id;  // of the caller's trace; empty: none
  std::string_view method;    // one of the methods routed, otherwise "other"
  std::string_view route;     // the pattern; "none" for an unknown path, "malformed" before routing
  int status = 0;             // 499: the client left first
  std::chrono::microseconds duration{0};  // from the first byte of the request
  const std::vector<Note>& notes;
  std::string_view error = {};  // what a handler threw; empty if it did not
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the system picks one
  std::size_t threads = 2;
  std::size_t max_connections = 2048;  // one more is answered 503 and closed
  RequestLimits limits;
  // Of all bodies together, in memory until they are answered; see BodyBudget. One more gets 503.
  // At least limits.body_bytes is taken for it.
  std::size_t max_bodies_bytes = std::size_t{1} << 30U;

  std::chrono::milliseconds header_timeout{
      10'000};  // first byte of a request to its last header; a handshake
  std::chrono::milliseconds body_timeout{30'000};   // last header to last byte of the body
  std::chrono::milliseconds idle_timeout{60'000};   // between two requests
  std::chrono::milliseconds write_timeout{30'000};  // for the client to take kWriteSlice bytes

  std::shared_ptr<TlsContext> tls;  // null: plain HTTP

  std::string cors_origin;  // Access-Control-Allow-Origin; empty: browsers of other origins refused
  bool guard_browsers = false;             // see BrowserGuard; for a server without keys
  std::vector<std::string> allowed_hosts;  // of the guard
  std::vector<Header> headers;             // of every answer, such as which deployment it is

  // Makes the answer that the HTTP layer gives by itself (400, 404, 405, 408, 413, ...). Of
  // `request` as much is set as has been read: of one without a whole head, the id alone. May be
  // empty: plain text.
  std::function<Response(const Request& request, int status, std::string_view message)> error_reply;
  // Called once per connection that is closed because its TLS handshake failed, on a server thread;
  // must not block. `reason` is "timeout" (header_timeout), "plain_http" (a client that is told so)
  // or one of handshake_failure(). May be empty.
  std::function<void(std::string_view reason)> on_handshake_failed;
  // Called once per request that is refused for max_bodies_bytes, on a server thread; must not
  // block. May be empty.
  std::function<void()> on_body_refused;
  // Called once per request, on a server thread; must not block. May be empty.
  std::function<void(const AccessRecord&)> on_finished;
};

// A client must take this many bytes per write_timeout, or it is dropped.
inline constexpr std::size_t kWriteSlice = std::size_t{64} * 1024;
// Bytes of later requests held while one is being answered.
inline constexpr std::size_t kMaxPipelinedBytes = std::size_t{64} * 1024;
// Of a refused request, this much is still read and thrown away, so that the client gets to see
// the answer instead of a reset; for at most kLingerTime.
inline constexpr std::size_t kMaxLingerBytes = std::size_t{64} * 1024 * 1024;
inline constexpr std::chrono::milliseconds kLingerTime{5'000};
// Connections beyond max_connections that are being told so; more are closed unanswered.
inline constexpr std::size_t kMaxShedConnections = 64;

}  // namespace daybreak::http
