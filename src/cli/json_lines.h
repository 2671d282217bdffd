// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frame of commands that answer one line of JSON for each line of JSON they read.

#include <cstddef>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace daybreak::cli {

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

// Answers a line of input with a line of output, both without line break.
using LineHandler = std::function<Result<std::string>(std::string line)>;

// Writes the answer to every line of `in` to `out`, flushed line by line; {"error":MESSAGE} for a
// line that fails. Goes on after a failure.
// Errors: kCorrupt if any line failed, kIo if reading or writing fails.
Status answer_lines(LineReader& in, std::FILE* out, const LineHandler& handler);

// Replaces the escape of every surrogate that has no partner ("\ud83d" alone) by "\ufffd" in a JSON
// text. Parsers refuse such escapes; the released tokenizer reads them as U+FFFD.
void replace_lone_surrogates(std::string& json);

}  // namespace daybreak::cli
