// SPDX-License-Identifier: Apache-2.0
#include "cli/json_lines.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace daybreak::cli {
namespace {

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
