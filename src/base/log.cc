// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace daybreak {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"debug", "info", "warning", "error",
                                                         "off"};

// Hands each line over without its time and level.
class FunctionSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    take_({message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

  std::function<void(std::string_view)> take_;
};

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  __builtin_unreachable();
}

std::string shortened(std::string_view text) {
  if (text.size() <= kMaxLogFieldBytes) {
    return std::string(text);
  }
  return std::string(text.substr(0, kMaxLogFieldBytes)) + "...";
}

// Returns the value as JSON, which is also the text form: quoted and escaped when it is text.
std::string value_text(const LogField& field) {
  return std::visit(
      [](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, double>) {
          if (std::isfinite(value)) {
            return fmt::format("{:.3f}", value);
          }
        }
        nlohmann::json json;
        if constexpr (std::is_same_v<Value, std::string_view>) {
          json = shortened(value);
        } else {
          json = value;
        }
        return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
      },
      field.value);
}

std::string quoted(std::string_view text) { return value_text({"", text}); }

// In text form a value without blanks, quotes or controls needs no quotes.
std::string bare(std::string value) {
  const bool plain = value.size() > 2 && value.front() == '"' &&
                     value.find_first_of(" \\=", 1) == std::string::npos;
  return plain ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

struct Log::Impl {
  LogFormat format = LogFormat::kText;
  std::shared_ptr<spdlog::logger> logger;
};

Log::Log(LogOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->format = options.format;
  spdlog::sink_ptr sink;
  if (options.sink) {
    sink = std::make_shared<FunctionSink>(std::move(options.sink));
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  impl_->logger = std::make_shared<spdlog::logger>("daybreak", std::move(sink));
  impl_->logger->set_level(level_of(options.level));
  impl_->logger->flush_on(spdlog::level::info);
  impl_->logger->set_pattern(impl_->format == LogFormat::kJson
                                 ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})"
                                 : "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
}

Log::~Log() = default;

void Log::set_level(LogLevel level) { impl_->logger->set_level(level_of(level)); }

void Log::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (!impl_->logger->should_log(level_of(level))) {
    return;
  }
  const bool json = impl_->format == LogFormat::kJson;
  std::string line = json ? "\"event\":" + quoted(event) : std::string(event);
  for (const LogField& field : fields) {
    if (json) {
      line += "," + quoted(field.name) + ":" + value_text(field);
    } else {
      line += " ";
      line += field.name;
      line += "=" + bare(value_text(field));
    }
  }
  impl_->logger->log(level_of(level), "{}", line);
}

Result<LogLevel> parse_log_level(std::string_view name) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) {
      return static_cast<LogLevel>(i);
    }
  }
  return Error{
      Errc::kInvalidArgument,
      "log level must be debug, info, warning, error or off, found '" + std::string(name) + "'"};
}

Result<LogFormat> parse_log_format(std::string_view name) {
  if (name == "text") {
    return LogFormat::kText;
  }
  if (name == "json") {
    return LogFormat::kJson;
  }
  return Error{Errc::kInvalidArgument,
               "log format must be text or json, found '" + std::string(name) + "'"};
}

}  // namespace daybreak
