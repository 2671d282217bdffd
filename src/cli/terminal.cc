// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace daybreak::cli {
namespace {

// The handler's only way to the outside. A pipe instead of a flag, because a flag set between its
// test and the start of a blocking read would be missed.
std::atomic<int> g_interrupt_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void on_interrupt(int /*signal*/) {
  const int saved = errno;
  const char byte = 1;
  // A full pipe already says what there is to say.
  [[maybe_unused]] const ssize_t written = ::write(g_interrupt_fd.load(), &byte, 1);
  errno = saved;
}

Error io_error(const char* what) {
  return Error{Errc::kIo, fmt::format("{}: {}", what, std::strerror(errno))};
}

}  // namespace

Result<Interrupts> Interrupts::install() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return io_error("pipe for interrupts");
  }
  g_interrupt_fd = fds[1];
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  return Interrupts(fds[0], fds[1]);
}

Interrupts::Interrupts(Interrupts&& other) noexcept
    : read_fd_(std::exchange(other.read_fd_, -1)), write_fd_(std::exchange(other.write_fd_, -1)) {}

Interrupts::~Interrupts() {
  if (read_fd_ < 0) {
    return;
  }
  ::signal(SIGINT, SIG_DFL);
  g_interrupt_fd = -1;
  ::close(read_fd_);
  ::close(write_fd_);
}

bool Interrupts::take() {
  std::array<char, 64> bytes{};
  bool any = false;
  while (::read(read_fd_, bytes.data(), bytes.size()) > 0) {
    any = true;
  }
  return any;
}

Result<InputLine> LineInput::next() {
  while (true) {
    const std::size_t end = buffer_.find('\n');
    if (std::min(end, buffer_.size()) > kMaxInputLineBytes) {
      return Error{Errc::kTooLarge,
                   fmt::format("input line: expected at most {} bytes", kMaxInputLineBytes)};
    }
    if (end != std::string::npos) {
      return split_line(end);
    }
    DAYBREAK_TRY(const InputLine::Kind kind, fill());
    if (kind == InputLine::Kind::kInterrupted) {
      buffer_.clear();
      return InputLine{.kind = kind, .text = {}};
    }
    if (kind == InputLine::Kind::kEnd) {
      if (buffer_.empty()) {
        return InputLine{.kind = kind, .text = {}};
      }
      return InputLine{.kind = InputLine::Kind::kLine, .text = std::exchange(buffer_, {})};
    }
  }
}

InputLine LineInput::split_line(std::size_t end) {
  InputLine line{.kind = InputLine::Kind::kLine, .text = buffer_.substr(0, end)};
  buffer_.erase(0, end + 1);
  if (line.text.ends_with('\r')) {
    line.text.pop_back();
  }
  return line;
}

Result<InputLine::Kind> LineInput::fill() {
  std::array<pollfd, 2> wait = {{{.fd = fd_, .events = POLLIN, .revents = 0},
                                 {.fd = interrupts_->fd(), .events = POLLIN, .revents = 0}}};
  while (::poll(wait.data(), wait.size(), -1) < 0) {
    if (errno != EINTR) {
      return io_error("waiting for input");
    }
  }
  if (wait[1].revents != 0 && interrupts_->take()) {
    return InputLine::Kind::kInterrupted;
  }
  if (wait[0].revents == 0) {
    return InputLine::Kind::kLine;
  }
  std::array<char, 65'536> bytes;
  const ssize_t count = ::read(fd_, bytes.data(), bytes.size());
  if (count < 0) {
    if (errno == EINTR || errno == EAGAIN) {
      return InputLine::Kind::kLine;
    }
    return io_error("reading input");
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  return count == 0 ? InputLine::Kind::kEnd : InputLine::Kind::kLine;
}

}  // namespace daybreak::cli
