// SPDX-License-Identifier: Apache-2.0
#pragma once

// Server: accepts connections and serves the routes on a small, fixed number of threads. The
// number of threads does not depend on the number of connections.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/router.h"
#include "http/server_options.h"

namespace daybreak::http {

class Server {
 public:
  // Binds, listens and starts the threads. Handlers may be called before this returns; whatever
  // they refer to must outlive the server.
  // Errors: kInvalidArgument (host cannot be resolved, an option out of range), kIo (cannot bind).
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Router router);

  // Does stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // Returns whether only this machine can reach it.
  [[nodiscard]] bool on_loopback() const;
  // Returns "http://127.0.0.1:8000", "https:" with TLS, with brackets around an IPv6 address.
  [[nodiscard]] std::string url() const;
  // Connections open now. Thread-safe.
  [[nodiscard]] std::size_t connections() const;

  // Errors: kInvalidArgument if reconfigure() cannot take `options`: a value out of range, or TLS
  // switched on or off. Thread-safe.
  [[nodiscard]] Status check_reconfigure(const ServerOptions& options) const;
  // Takes over what can change while serving: max_connections, limits, the four timeouts, and
  // `tls` for connections accepted from now on. Thread-safe. REQUIRES: check_reconfigure(options).
  void reconfigure(const ServerOptions& options);

  // Stops accepting, closes idle connections, and waits until every request in progress has been
  // answered, but not longer than `deadline`. Returns how many connections are left. Thread-safe.
  std::size_t drain(std::chrono::milliseconds deadline);

  // Closes everything and joins the threads. Handlers see their clients gone and get kLingerTime
  // to finish. Idempotent.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::http
