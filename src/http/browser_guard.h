// SPDX-License-Identifier: Apache-2.0
#pragma once

// BrowserGuard: keeps web pages off a server that asks nobody for a key. Every page that a browser
// shows can send requests to addresses only that browser reaches, in two ways:
// - to a name of its own that it lets point here (DNS rebinding). Such a request names a Host that
//   is none of ours.
// - across origins. Such a request carries the page's Origin, which is not ours.
// Programs, probes and proxies send no Origin, and a Host by which they reach the server.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace daybreak::http {

struct BrowserGuardOptions {
  std::string host;                             // the configured address
  bool loopback = true;                         // whether only this machine reaches that address
  std::vector<std::string> allowed_hosts = {};  // more names, without ports; "*": any
  std::string cors_origin = {};                 // an origin that may send requests too; "*": any
};

// Immutable, so thread-safe.
class BrowserGuard {
 public:
  explicit BrowserGuard(BrowserGuardOptions options) : options_(std::move(options)) {}

  // Errors: kInvalidArgument for an allowed host that is none, such as one with a scheme or a port.
  [[nodiscard]] static Status check(const std::vector<std::string>& allowed_hosts);
  // Errors: kInvalidArgument unless it is empty, "*" or what a browser may send as Origin.
  [[nodiscard]] static Status check_origin(std::string_view cors_origin);

  struct Refusal {
    int status = 0;  // 200: none
    std::string message;
  };
  // Judges a request.
  // - 403: its Host is no name of the server. IP addresses always are: no page can own one. So are
  //   localhost, what ends in .localhost, .local or .internal (nobody can own these), the
  //   configured host and allowed_hosts. On another address than loopback any name is, unless some
  //   are listed.
  // - 403: it may change something (not GET, HEAD, OPTIONS) and comes from a page of another
  // origin.
  // - 415: it comes from a page and its body is neither JSON nor a form of files: what a page can
  //   send without the browser's asking first.
  [[nodiscard]] Refusal judge(const Request& request) const;

 private:
  [[nodiscard]] bool is_ours(std::string_view host) const;
  [[nodiscard]] bool may_send(const Request& request, std::string_view origin) const;

  BrowserGuardOptions options_;
};

}  // namespace daybreak::http
