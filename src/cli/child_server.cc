// SPDX-License-Identifier: Apache-2.0
#include "cli/exam_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
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

[[noreturn]] void serve(std::vector<std::string> arguments, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::dup2(output, STDOUT_FILENO);
  arguments.insert(arguments.begin(), {"/proc/self/exe", "serve"});
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  constexpr int kCannotRun = 127;
  ::_exit(kCannotRun);
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

Result<std::unique_ptr<ExamServer>> ExamServer::start(std::vector<std::string> arguments) {
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
    serve(std::move(arguments), ends[1]);
  }
  ::close(ends[1]);
  std::unique_ptr<ExamServer> made(new ExamServer(child, ends[0]));  // NOLINT: private
  constexpr std::string_view kListening = "listening on ";
  const std::string line = read_line(ends[0]);
  if (!line.starts_with(kListening)) {
    return Error{Errc::kUnavailable, "the server ended before it listened"};
  }
  made->url_ = line.substr(kListening.size());
  return made;
}

ExamServer::~ExamServer() {
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
