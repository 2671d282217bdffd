// SPDX-License-Identifier: Apache-2.0
#include "http/trace_context.h"

#include <algorithm>

namespace daybreak::http {
namespace {

constexpr std::size_t kKnownBytes = 55;  // "00-" 32 digits "-" 16 digits "-01"

// Upper case is malformed in this header.
bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool is_sampled(std::string_view flags) {
  const char low = flags.back();
  const int digit = low <= '9' ? low - '0' : low - 'a' + 10;
  return digit % 2 == 1;
}

}  // namespace

std::optional<TraceParent> parse_traceparent(std::string_view traceparent) {
  if (traceparent.size() < kKnownBytes || traceparent.size() > kMaxTraceparentBytes ||
      traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-') {
    return std::nullopt;
  }
  const std::string_view version = traceparent.substr(0, 2);
  const std::string_view trace = traceparent.substr(3, 32);
  const std::string_view parent = traceparent.substr(36, 16);
  const std::string_view flags = traceparent.substr(53, 2);
  if (!is_hex(version) || version == "ff" || !is_id(trace) || !is_id(parent) || !is_hex(flags)) {
    return std::nullopt;
  }
  const bool longer = traceparent.size() > kKnownBytes;
  if (longer && (version == "00" || traceparent[kKnownBytes] != '-')) {
    return std::nullopt;
  }
  return TraceParent{.trace_id = trace, .parent_id = parent, .sampled = is_sampled(flags)};
}

std::string_view trace_id(std::string_view traceparent) {
  const auto parsed = parse_traceparent(traceparent);
  return parsed ? parsed->trace_id : std::string_view();
}

}  // namespace daybreak::http
