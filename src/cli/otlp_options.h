// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where telemetry goes, from the server's keys and OpenTelemetry's own environment variables.

#include <functional>
#include <optional>
#include <string>

#include "api/telemetry.h"
#include "base/result.h"
#include "cli/server_config.h"

namespace daybreak::cli {

inline constexpr std::size_t kMaxOtlpHeaders = 64;
inline constexpr std::size_t kMaxOtlpHeadersBytes = std::size_t{64} * 1024;

// Returns nothing where no endpoint is named, or OTEL_SDK_DISABLED is true. `environment` returns
// the value of a variable, or null; `version` is the program's.
// Errors: kInvalidArgument naming the key or variable, kIo (otlp_headers_file cannot be read).
[[nodiscard]] Result<std::optional<api::TelemetryOptions>> otlp_options(
    const ServerConfig& config, const std::string& version,
    const std::function<const char*(const std::string&)>& environment);

}  // namespace daybreak::cli
