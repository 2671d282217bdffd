// SPDX-License-Identifier: Apache-2.0
#pragma once

// Terminal input that Ctrl-C can interrupt: lines of standard input, and whether an interrupt has
// come while something else was going on.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace daybreak::cli {

inline constexpr std::size_t kMaxInputLineBytes = std::size_t{8} << 20;

// While it lives, SIGINT is caught instead of ending the process. One at a time per process, used
// by one thread; other threads may receive the signal.
class Interrupts {
 public:
  // Errors: kIo (no pipe).
  static Result<Interrupts> install();
  Interrupts(Interrupts&& other) noexcept;
  Interrupts& operator=(Interrupts&&) = delete;
  ~Interrupts();  // restores the default

  // Returns whether SIGINT came since the last call of take().
  [[nodiscard]] bool take();
  // Becomes readable when SIGINT comes, until take().
  [[nodiscard]] int fd() const { return read_fd_; }

 private:
  explicit Interrupts(int read_fd, int write_fd) : read_fd_(read_fd), write_fd_(write_fd) {}

  int read_fd_;
  int write_fd_;
};

struct InputLine {
  enum class Kind : std::uint8_t { kLine, kEnd, kInterrupted };
  Kind kind = Kind::kEnd;
  std::string text;  // kLine: without its line break
};

// Reads lines from a file descriptor. Not thread-safe.
class LineInput {
 public:
  // Both must outlive the reader.
  LineInput(int fd, Interrupts& interrupts) : fd_(fd), interrupts_(&interrupts) {}

  // Waits for the next line, the end of the input or an interrupt (which takes it and drops what
  // was typed of the line). Errors: kTooLarge (line above kMaxInputLineBytes), kIo.
  Result<InputLine> next();

 private:
  InputLine split_line(std::size_t end);
  // Waits and reads once. Returns kLine for "go on".
  Result<InputLine::Kind> fill();

  int fd_;
  Interrupts* interrupts_;
  std::string buffer_;
};

}  // namespace daybreak::cli
