// SPDX-License-Identifier: Apache-2.0
#include "http/browser_guard.h"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <utility>

#include "base/json_document.h"

namespace daybreak::http {
namespace {

constexpr std::array<std::string_view, 3> kReserved = {".localhost", ".local", ".internal"};

// The host of "host", "host:port", "[v6]" and "[v6]:port".
std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) {
    return authority.substr(0, std::min(authority.find(']'), authority.size() - 1) + 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_address(std::string_view host) {
  if (host.size() > 2 && host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  boost::system::error_code error;
  (void)boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() > suffix.size() && same_name(text.substr(text.size() - suffix.size()), suffix);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view one) { return same_name(one, name); });
}

// The authority of "scheme://authority"; "" for anything else, such as "null".
std::string_view authority_of(std::string_view origin) {
  const std::size_t slashes = origin.find("://");
  return slashes == std::string_view::npos ? std::string_view() : origin.substr(slashes + 3);
}

bool is_page_body(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  type = type.substr(0, type.find_last_not_of(" \t") + 1);
  return type.empty() || same_name(type, "application/json") ||
         same_name(type, "multipart/form-data");
}

}  // namespace

Status BrowserGuard::check(const std::vector<std::string>& allowed_hosts) {
  for (const std::string& host : allowed_hosts) {
    if (host.empty() || (!is_address(host) && host.find_first_of("/:@ ") != std::string::npos)) {
      return Error{
          Errc::kInvalidArgument,
          "allowed_hosts: expected names without scheme and port, found '" + printable(host) + "'"};
    }
  }
  return ok();
}

Status BrowserGuard::check_origin(std::string_view cors_origin) {
  const std::string_view authority = authority_of(cors_origin);
  if (cors_origin.empty() || cors_origin == "*" ||
      (!authority.empty() && authority.find_first_of("/, ") == std::string_view::npos)) {
    return ok();
  }
  return Error{Errc::kInvalidArgument,
               "cors_origin: expected * or one origin as browsers write it, such as "
               "https://app.example.com:3000, found '" +
                   printable(cors_origin) + "'"};
}

bool BrowserGuard::is_ours(std::string_view host) const {
  if (host.ends_with('.')) {
    host.remove_suffix(1);  // the root, which names may spell out
  }
  const std::vector<std::string>& allowed = options_.allowed_hosts;
  return (allowed.empty() && !options_.loopback) || contains(allowed, "*") ||
         contains(allowed, host) || is_address(host) || same_name(host, "localhost") ||
         same_name(host, options_.host) ||
         std::ranges::any_of(kReserved, [&](auto suffix) { return ends_with(host, suffix); });
}

bool BrowserGuard::may_send(const Request& request, std::string_view origin) const {
  if (options_.cors_origin == "*" || same_name(origin, options_.cors_origin)) {
    return true;
  }
  // A proxy may have replaced the Host; what the browser itself says of the page stays.
  if (request.header("sec-fetch-site") == "same-origin") {
    return true;
  }
  const std::string_view authority = authority_of(origin);
  return !authority.empty() && (same_name(authority, request.header("host")) ||
                                contains(options_.allowed_hosts, without_port(authority)));
}

BrowserGuard::Refusal BrowserGuard::judge(const Request& request) const {
  // HTTP/1.0 without a Host is no browser.
  if (const std::string_view host = request.header("host");
      !host.empty() && !is_ours(without_port(host))) {
    return {403, "Host '" + printable(host) +
                     "' is no name of this server, which asks for no API keys: expected an IP "
                     "address, localhost or one of allowed_hosts"};
  }
  const std::string_view origin = request.header("origin");
  if (origin.empty() || request.method == "GET" || request.method == "HEAD" ||
      request.method == "OPTIONS") {
    return {200, ""};
  }
  if (!may_send(request, origin)) {
    return {403, "Origin '" + printable(origin) +
                     "' may not use this server, which asks for no API keys: expected its own, "
                     "that of cors_origin, or one whose name is in allowed_hosts"};
  }
  if (const std::string_view type = request.header("content-type"); !is_page_body(type)) {
    return {415, "Content-Type of a request from a web page: expected application/json, found '" +
                     printable(type) + "'"};
  }
  return {200, ""};
}

}  // namespace daybreak::http
