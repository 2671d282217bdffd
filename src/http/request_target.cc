// SPDX-License-Identifier: Apache-2.0
#include "http/request_target.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "http/message.h"

namespace daybreak::http {
namespace {

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Empty is allowed: "host:" is the host (RFC 3986, 3.2.3).
bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data(), end, port);
  return text.empty() || (fault == std::errc{} && at == end);
}

// "host", "host:port", "[v6]" or "[v6]:port" (RFC 3986, 3.2.2). A user is refused: it is how URLs
// are made to look like those of somebody else (RFC 9110, 4.2.4).
bool is_authority(std::string_view text) {
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || close == 1 ||
        !std::ranges::all_of(text.substr(1, close - 1), [](char c) {
          return is_alphanumeric(c) || std::string_view(":.").find(c) != std::string_view::npos;
        })) {
      return false;
    }
    end = close + 1;
  } else if (!std::ranges::all_of(text.substr(0, end), [](char c) {
               return is_alphanumeric(c) ||
                      std::string_view("-._~%!$&'()*+,;=").find(c) != std::string_view::npos;
             })) {
    return false;
  }
  end = std::min(end, text.size());
  const std::string_view rest = text.substr(end);
  return end > 0 && (rest.empty() || (rest.front() == ':' && is_port(rest.substr(1))));
}

// Returns what follows "http://" or "https://", "" if it begins otherwise. Which of them does not
// matter: whoever ends the TLS of our clients may speak either to us.
std::string_view after_scheme(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (same_name(target.substr(0, scheme.size()), scheme)) {
      return target.substr(scheme.size());
    }
  }
  return {};
}

}  // namespace

std::optional<RequestTarget> parse_target(std::string_view method, std::string_view target) {
  if (!std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f; })) {
    return std::nullopt;
  }
  RequestTarget out;
  if (target == "*" && method == "OPTIONS") {
    out.path = target;
    return out;
  }
  if (!target.starts_with('/')) {
    const std::string_view rest = after_scheme(target);
    out.authority = rest.substr(0, rest.find_first_of("/?#"));
    if (!is_authority(out.authority)) {
      return std::nullopt;
    }
    target = rest.substr(out.authority.size());
    if (target.empty()) {  // RFC 9112, 3.2.4
      out.path = method == "OPTIONS" ? "*" : "/";
      return out;
    }
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  out.path = target.substr(0, question);
  if (!out.path.starts_with('/')) {
    out.path.insert(0, "/");  // "http://host?query"
  }
  out.query = target.substr(std::min(question + 1, target.size()));
  return out;
}

}  // namespace daybreak::http
