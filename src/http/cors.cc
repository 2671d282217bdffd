// SPDX-License-Identifier: Apache-2.0
#include "http/cors.h"

#include <algorithm>
#include <array>

namespace daybreak::http {
namespace {

constexpr std::string_view kFixed =
    "Authorization, Content-Type, x-api-key, idempotency-key, x-request-id, traceparent, "
    "tracestate, openai-organization, openai-project, anthropic-version, anthropic-beta, "
    "anthropic-dangerous-direct-browser-access";
constexpr std::array<std::string_view, 2> kPrefixes = {"anthropic-", "x-stainless-"};
constexpr std::size_t kMaxNameBytes = 64;

// Browsers send these names in lower case.
bool is_ours(std::string_view name) {
  return name.size() <= kMaxNameBytes && kFixed.find(name) == std::string_view::npos &&
         std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); }) &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string cors_allowed_headers(std::string_view requested) {
  std::string out(kFixed);
  for (std::size_t i = 0; i < kMaxRequestedHeaders && !requested.empty(); ++i) {
    const std::size_t comma = std::min(requested.find(','), requested.size());
    const std::string_view name = trimmed(requested.substr(0, comma));
    if (is_ours(name)) {
      out += ", ";
      out += name;
    }
    requested.remove_prefix(std::min(comma + 1, requested.size()));
  }
  return out;
}

}  // namespace daybreak::http
