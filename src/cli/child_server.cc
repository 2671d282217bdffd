// SPDX-License-Identifier: Apache-2.0
#include "cli/child_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace daybreak::cli {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kLookAgain{10};
constexpr std::size_t kMaxFirstLine = 1024;

[[noreturn]] void run_child(const ChildServer::Serve& serve, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Ctrl-C is for the client, who may still want the server.
  ::setpgid(0, 0);
  ::dup2(output, STDOUT_FILENO);
  serve();
  ::_exit(0);
}

// The first line, without its end; as much as came if the server ended before.
std::string read_line(int descriptor) {
  std::string line;
  for (char c = 0; line.size() < kMaxFirstLine;) {
    const ssize_t got = ::read(descriptor, &c, 1);
    if (got == 0 || (got < 0 && errno != EINTR) || (got == 1 && c == '\n')) {
      break;
    }
    if (got == 1) {
      line += c;
    }
  }
  return line;
}

Error failed(std::string_view what) {
  return {Errc::kIo, std::string(what) + ": " + std::generic_category().message(errno)};
}

}  // namespace

Result<std::unique_ptr<ChildServer>> ChildServer::start(const Serve& serve) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failed("pipe");
  }
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return failed("fork");
  }
  if (child == 0) {
    ::close(ends[0]);
    run_child(serve, ends[1]);
  }
  ::close(ends[1]);
  std::unique_ptr<ChildServer> made(new ChildServer(child, ends[0]));  // NOLINT: private
  constexpr std::string_view kListening = "listening on ";
  const std::string line = read_line(ends[0]);
  const std::size_t colon = line.rfind(':');
  if (!line.starts_with(kListening) ||
      std::from_chars(line.data() + colon + 1, line.data() + line.size(), made->port_).ec !=
          std::errc{}) {
    return Error{Errc::kUnavailable, "the server ended before it listened" +
                                         (line.empty() ? std::string() : ": " + line)};
  }
  made->url_ = line.substr(kListening.size());
  return made;
}

ChildServer::Serve ChildServer::program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/proc/self/exe", "serve"});
  return [arguments = std::move(arguments)]() mutable {
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    constexpr int kCannotRun = 127;
    ::_exit(kCannotRun);
  };
}

ChildServer::~ChildServer() {
  ::kill(process_, SIGTERM);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ::kill(process_, SIGKILL);
    }
    std::this_thread::sleep_for(kLookAgain);
  }
  ::close(output_);
}

}  // namespace daybreak::cli
