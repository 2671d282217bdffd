// SPDX-License-Identifier: Apache-2.0
#pragma once

// ExamServer: `daybreak serve` in a process of its own, on a free port of the loopback, so that an
// exam asks what a client would ask.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace daybreak::cli {

class ExamServer {
 public:
  // Runs this very program with "serve" and `arguments`; what it logs goes to stderr. Returns once
  // it listens. REQUIRES: this process has one thread. Errors: kIo; kUnavailable if the server
  // ended before it listened, having said why on stderr.
  [[nodiscard]] static Result<std::unique_ptr<ExamServer>> start(
      std::vector<std::string> arguments);
  // Ends the process, at once if it does not end within kPatience, and waits for it. It also ends
  // when this process does.
  ~ExamServer();
  ExamServer(const ExamServer&) = delete;
  ExamServer& operator=(const ExamServer&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  ExamServer(pid_t process, int output) : process_(process), output_(output) {}

  const pid_t process_;
  const int output_;  // what the server prints; kept open so that it can
  std::string url_;
};

}  // namespace daybreak::cli
