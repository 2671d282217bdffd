// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a browser is told about headers when a page of another origin uses this server.

#include <cstddef>
#include <string>
#include <string_view>

namespace daybreak::http {

// Headers of answers that such a page may read.
inline constexpr std::string_view kExposedHeaders =
    "x-request-id, x-trace-id, request-id, Retry-After, retry-after-ms, x-should-retry";
// Names looked at in one preflight request.
inline constexpr std::size_t kMaxRequestedHeaders = 64;

// Returns the value of Access-Control-Allow-Headers: the fixed names that clients of these APIs
// send, and of `requested` (the names a browser asks for, separated by commas) those that begin
// with "anthropic-" or "x-stainless-": SDKs invent such names, and the header knows no prefixes.
[[nodiscard]] std::string cors_allowed_headers(std::string_view requested);

}  // namespace daybreak::http
