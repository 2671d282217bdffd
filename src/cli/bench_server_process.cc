// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_server_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace daybreak::cli {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    return Error{Errc::kIo, "pipe: " + std::generic_category().message(errno)};
  }
  return Pipe{ends[0], ends[1]};
}

// Tells the parent the port, or why there is none, and lives until the parent closes `control`.
[[noreturn]] void serve(ScriptedServerOptions options, int control, int report) {
  ::signal(SIGPIPE, SIG_IGN);
  auto server = ScriptedServer::start(std::move(options));
  const std::string told = server ? std::to_string((*server)->http().port()) + "\n"
                                  : "error: " + server.error().message + "\n";
  const bool written = ::write(report, told.data(), told.size()) > 0;
  ::close(report);
  char nothing = 0;
  while (server && written && ::read(control, &nothing, 1) < 0 && errno == EINTR) {
  }
  if (server) {
    server->reset();
  }
  ::_exit(0);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 256> part{};
  for (;;) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

Result<std::unique_ptr<ServerProcess>> ServerProcess::start(ScriptedServerOptions options) {
  DAYBREAK_TRY(const Pipe control, make_pipe());
  DAYBREAK_TRY(const Pipe report, make_pipe());
  const pid_t child = ::fork();
  if (child < 0) {
    return Error{Errc::kIo, "fork: " + std::generic_category().message(errno)};
  }
  if (child == 0) {
    ::close(control.write);
    ::close(report.read);
    serve(std::move(options), control.read, report.write);
  }
  ::close(control.read);
  ::close(report.write);
  std::unique_ptr<ServerProcess> made(new ServerProcess(child, control.write));
  const std::string told = read_all(report.read);
  ::close(report.read);
  if (std::from_chars(told.data(), told.data() + told.size(), made->port_).ec != std::errc{}) {
    return Error{Errc::kIo, "the server did not start: " + told.substr(0, told.find('\n'))};
  }
  return made;
}

ServerProcess::~ServerProcess() {
  ::close(control_);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace daybreak::cli
