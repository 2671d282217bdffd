// SPDX-License-Identifier: Apache-2.0
#pragma once

// Log: one line per event with named fields, as text for people or as JSON for machines. Prompts
// and answers are never logged: fields are numbers, names and ids.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace daybreak {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat : std::uint8_t { kText, kJson };

struct LogField {
  std::string_view name;
  std::variant<std::int64_t, double, bool, std::string_view> value;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  // Takes each finished line, without its end. Empty: stderr.
  std::function<void(std::string_view)> sink = nullptr;
};

// Longest text of one field; the rest is cut off and marked by "...".
inline constexpr std::size_t kMaxLogFieldBytes = 512;

// Errors: kInvalidArgument naming what is allowed.
Result<LogLevel> parse_log_level(std::string_view name);
Result<LogFormat> parse_log_format(std::string_view name);

// Thread-safe.
class Log {
 public:
  explicit Log(LogOptions options = {});
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // From now on writes only lines of at least `level`. Thread-safe.
  void set_level(LogLevel level);

  // Writes one line: time, level, `event` and the fields in their order. A double has 3 decimals
  // (null in JSON and text if it is not finite). A line never contains a
  // line break, whatever the fields hold.
  void write(LogLevel level, std::string_view event, std::span<const LogField> fields = {});
  void info(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kInfo, event, {fields.begin(), fields.size()});
  }
  void warning(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kWarning, event, {fields.begin(), fields.size()});
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak
