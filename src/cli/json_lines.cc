// SPDX-License-Identifier: Apache-2.0
#include "cli/json_lines.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace daybreak::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

// Returns the code unit of a "\uXXXX" escape at `at`, or nothing if there is none.
std::optional<std::uint32_t> escaped_unit(std::string_view json, std::size_t at) {
  if (json.size() - at < 6 || json.substr(at, 2) != "\\u") {
    return std::nullopt;
  }
  std::uint32_t unit = 0;
  const char* const end = json.data() + at + 6;
  const auto [stop, error] = std::from_chars(json.data() + at + 2, end, unit, 16);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return unit;
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// A message may quote input of any bytes.
std::string error_line(const std::string& message) {
  return nlohmann::json{{"error", message}}.dump(-1, ' ', false,
                                                 nlohmann::json::error_handler_t::replace);
}

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

Status answer_lines(LineReader& in, std::FILE* out, const LineHandler& handler) {
  std::size_t lines = 0;
  std::size_t failures = 0;
  while (auto line = in.next()) {
    ++lines;
    Result<std::string> answer = *line ? handler(**std::move(line)) : *std::move(line);
    if (!answer && answer.error().code == Errc::kIo) {
      return std::move(answer).error();
    }
    failures += answer ? 0 : 1;
    const std::string text = answer ? *std::move(answer) : error_line(answer.error().message);
    if (std::fputs((text + "\n").c_str(), out) < 0 || std::fflush(out) != 0) {
      return Error{Errc::kIo, std::string("output: ") + std::strerror(errno)};
    }
  }
  if (failures != 0) {
    return Error{Errc::kCorrupt,
                 std::to_string(failures) + " of " + std::to_string(lines) + " lines failed"};
  }
  return ok();
}

void replace_lone_surrogates(std::string& json) {
  for (std::size_t at = json.find('\\'); at != std::string::npos; at = json.find('\\', at)) {
    const auto unit = escaped_unit(json, at);
    if (!unit) {
      at += 2;  // another escape, which may be of a backslash
      continue;
    }
    if (is_high_surrogate(*unit)) {
      const auto second = escaped_unit(json, at + 6);
      if (second && is_low_surrogate(*second)) {
        at += 12;
        continue;
      }
    }
    if (is_high_surrogate(*unit) || is_low_surrogate(*unit)) {
      json.replace(at + 2, 4, "fffd");
    }
    at += 6;
  }
}

}  // namespace daybreak::cli
