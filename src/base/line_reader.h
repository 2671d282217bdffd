// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lines of a file descriptor, one at a time, each of bounded length.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"

namespace daybreak {

inline constexpr std::size_t kMaxJsonLineBytes = std::size_t{64} << 20;

// Reads lines from a file descriptor as they arrive, so that a program on the other end of a pipe
// gets its answer before it sends the next line. Not thread-safe.
class LineReader {
 public:
  // `fd` stays open and must outlive the reader. Lines longer than `max_line_bytes` are skipped.
  explicit LineReader(int fd, std::size_t max_line_bytes = kMaxJsonLineBytes)
      : fd_(fd), max_line_bytes_(max_line_bytes) {}

  // Returns the next line without its line break, kTooLarge in place of a line over the bound (the
  // next call goes on after it), or kIo, which repeats. Nothing at the end of the input.
  std::optional<Result<std::string>> next();

 private:
  // Returns false at the end of the input or on an error, which errno_ then holds.
  bool fill();

  int fd_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;
  int errno_ = 0;
};

}  // namespace daybreak
