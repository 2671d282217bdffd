// SPDX-License-Identifier: Apache-2.0
#pragma once

// ChildServer: a server in a process of its own on the loopback, so that its client asks what any
// client would, and what the server uses can be told from what the client uses.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace daybreak::cli {

class ChildServer {
 public:
  // What the child does. Its first line on standard output is "listening on URL" once it listens,
  // or what went wrong; it ends at SIGTERM, which also comes when this process ends.
  using Serve = std::function<void()>;

  // Forks and runs `serve`. Returns once it listens. REQUIRES: this process has one thread.
  // Errors: kIo; kUnavailable if the server ended before it listened, with its first line or having
  // said why on stderr.
  [[nodiscard]] static Result<std::unique_ptr<ChildServer>> start(const Serve& serve);
  // Runs this very program with "serve" and `arguments`.
  [[nodiscard]] static Serve program(std::vector<std::string> arguments);

  // Ends the process, at once if it does not end within kPatience, and waits for it.
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  ChildServer(pid_t process, int output) : process_(process), output_(output) {}

  const pid_t process_;
  const int output_;  // what the server prints; kept open so that it can
  std::string url_;
  std::uint16_t port_ = 0;
};

}  // namespace daybreak::cli
