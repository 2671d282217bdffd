// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target of a request line, in the forms that a server must take (RFC 9112, 3.2): an absolute
// path; a whole URL, as clients send through a proxy; for OPTIONS an asterisk.

#include <optional>
#include <string>
#include <string_view>

namespace daybreak::http {

struct RequestTarget {
  std::string path;       // begins with '/', or is "*"
  std::string query;      // what follows the first '?'
  std::string authority;  // of a URL: what counts instead of the Host header; else ""
};

// Returns nothing for what names no resource of an HTTP server: another scheme, no host, a user, a
// port that is no number, the authority of CONNECT, bytes that are not printable ASCII.
[[nodiscard]] std::optional<RequestTarget> parse_target(std::string_view method,
                                                        std::string_view target);

}  // namespace daybreak::http
