// SPDX-License-Identifier: Apache-2.0
#pragma once

// `daybreak serve` as a child process. Test code only.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "testing/paths.h"

namespace daybreak::cli {

// A child process with its stdout and stderr readable.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    EXPECT_EQ(::pipe(out.data()) + ::pipe(err.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      std::vector<char*> argv;
      for (std::string& argument : arguments) {
        argv.push_back(argument.data());
      }
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    ::close(out_);
    ::close(err_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::string read_line() {
    std::string line;
    for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) {
      line += c;
    }
    return line;
  }
  // Reads stderr until a line holds `part`; returns that line.
  std::string read_error_line(const std::string& part) {
    std::string line;
    for (char c = 0; ::read(err_, &c, 1) == 1;) {
      line += c;
      if (c == '\n') {
        if (line.find(part) != std::string::npos) {
          return line;
        }
        line.clear();
      }
    }
    return "";
  }
  std::string read_errors() {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = ::read(err_, piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  void signal(int number) const { ::kill(pid_, number); }
  [[nodiscard]] pid_t process() const { return pid_; }
  // Returns the exit code, or 128 + the signal.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
  int err_ = -1;
};

inline std::string binary() {
  const char* path = std::getenv("DAYBREAK_BINARY");
  return path == nullptr ? "build/release/daybreak" : path;
}

inline std::vector<std::string> serve(std::vector<std::string> more) {
  std::vector<std::string> arguments = {
      binary(),    "serve", testing::source_path("models/nano").string(), "--port", "0",
      "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

inline std::uint16_t port_of(const std::string& line) {
  EXPECT_TRUE(line.starts_with("listening on http://127.0.0.1:") ||
              line.starts_with("listening on https://127.0.0.1:"))
      << line;
  return static_cast<std::uint16_t>(std::atoi(line.substr(line.rfind(':') + 1).c_str()));
}

}  // namespace daybreak::cli
