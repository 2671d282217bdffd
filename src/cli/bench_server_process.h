// SPDX-License-Identifier: Apache-2.0
#pragma once

// ServerProcess: a ScriptedServer in a process of its own, so that what it uses can be told from
// what its client uses.

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "cli/scripted_server.h"

namespace daybreak::cli {

class ServerProcess {
 public:
  // Forks: REQUIRES that this process has one thread. What `options.stamps` refers to must be
  // shared memory. Errors: those of ScriptedServer::start(), as text in kIo.
  [[nodiscard]] static Result<std::unique_ptr<ServerProcess>> start(ScriptedServerOptions options);
  // Ends the process and waits for it. It also ends when this process does.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  ServerProcess(pid_t process, int control) : process_(process), control_(control) {}

  const pid_t process_;
  const int control_;  // a pipe that is closed to end the process
  std::uint16_t port_ = 0;
};

}  // namespace daybreak::cli
