// SPDX-License-Identifier: Apache-2.0
#pragma once

// The text of a response head: status line, headers, dates, request ids, chunk sizes.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace daybreak::http {

// Longest x-request-id of a client that is echoed.
inline constexpr std::size_t kMaxRequestIdBytes = 128;

// Returns "HTTP/1.1 404 Not Found\r\n".
[[nodiscard]] std::string status_line(int status);

// Appends "name: value\r\n". Control characters in the value become spaces, so that no value can
// add a header or end the head.
void append_header(std::string& out, std::string_view name, std::string_view value);

// Returns `proposed` if it is 1..kMaxRequestIdBytes characters of [A-Za-z0-9._-], otherwise a new
// id, unique in this process and unlikely elsewhere. Thread-safe.
[[nodiscard]] std::string request_id(std::string_view proposed);

// Returns an IMF-fixdate such as "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7).
[[nodiscard]] std::string http_date(std::chrono::system_clock::time_point when);

// Returns the size line of a chunk: lower-case hexadecimal and "\r\n". REQUIRES: bytes > 0.
[[nodiscard]] std::string chunk_head(std::size_t bytes);

// Returns the method if it is a standard one, otherwise "other": a bounded label for metrics.
[[nodiscard]] std::string_view known_method(std::string_view method);

}  // namespace daybreak::http
