// SPDX-License-Identifier: Apache-2.0
#pragma once

// The header `traceparent` of W3C Trace Context: what ties one request to the trace of its caller.

#include <cstddef>
#include <optional>
#include <string_view>

namespace daybreak::http {

// Longest traceparent that is looked at; version 00 has exactly 55 characters.
inline constexpr std::size_t kMaxTraceparentBytes = 256;

// Points into the header it was read from.
struct TraceParent {
  std::string_view trace_id;   // 32 hexadecimal digits, not all zero
  std::string_view parent_id;  // 16, not all zero: the caller's span
  bool sampled = false;        // the caller records this trace
};

// Returns what a well-formed `traceparent` says. A later version than 00 is read as the standard
// asks: the known fields, anything after them.
[[nodiscard]] std::optional<TraceParent> parse_traceparent(std::string_view traceparent);

// Returns its trace id, or "".
[[nodiscard]] std::string_view trace_id(std::string_view traceparent);

}  // namespace daybreak::http
