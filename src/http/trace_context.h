// SPDX-License-Identifier: Apache-2.0
#pragma once

// The header `traceparent` of W3C Trace Context: what ties one request to the trace of its caller.

#include <cstddef>
#include <string_view>

namespace daybreak::http {

// Longest traceparent that is looked at; version 00 has exactly 55 characters.
inline constexpr std::size_t kMaxTraceparentBytes = 256;

// Returns the 32 hexadecimal digits of the trace id inside a well-formed `traceparent`, otherwise
// "". A later version than 00 is read as the standard asks: the known fields, anything after them.
// The result points into the argument.
[[nodiscard]] std::string_view trace_id(std::string_view traceparent);

}  // namespace daybreak::http
