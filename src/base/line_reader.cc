// SPDX-License-Identifier: Apache-2.0
#include "base/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace daybreak {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

}  // namespace

bool LineReader::fill() {
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kReadBytes);
  ssize_t count = 0;
  do {
    count = ::read(fd_, buffer_.data() + size, kReadBytes);
  } while (count < 0 && errno == EINTR);
  errno_ = count < 0 ? errno : 0;
  buffer_.resize(size + static_cast<std::size_t>(count < 0 ? 0 : count));
  return count > 0;
}

std::optional<Result<std::string>> LineReader::next() {
  bool too_long = false;
  std::size_t searched = begin_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    const bool ended = end != std::string::npos;
    const std::size_t length = (ended ? end : buffer_.size()) - begin_;
    too_long = too_long || length > max_line_bytes_;
    if (ended) {
      std::string line = buffer_.substr(begin_, too_long ? 0 : length);
      begin_ = end + 1;
      if (too_long) {
        break;
      }
      return Result<std::string>(std::move(line));
    }
    // What was answered, or is too long to be answered, makes room for what comes.
    buffer_.erase(0, too_long ? buffer_.size() : begin_);
    begin_ = 0;
    searched = buffer_.size();
    if (!fill()) {
      if (errno_ != 0) {
        return Result<std::string>(
            Error{Errc::kIo, std::string("input: ") + std::strerror(errno_)});
      }
      if (too_long) {
        break;
      }
      if (buffer_.empty()) {
        return std::nullopt;
      }
      return Result<std::string>(std::exchange(buffer_, {}));
    }
  }
  return Result<std::string>(
      Error{Errc::kTooLarge,
            "line: at most " + std::to_string(max_line_bytes_) + " bytes expected, found more"});
}

}  // namespace daybreak
